mod composite;
mod digester;
mod family;
mod probes;
mod quality;
