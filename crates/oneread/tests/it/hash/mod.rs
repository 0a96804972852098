mod composite;
mod digester;
mod probes;
mod quality;
