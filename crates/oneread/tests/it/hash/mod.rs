mod composite;
mod digester;
mod long;
mod probes;
mod quality;
