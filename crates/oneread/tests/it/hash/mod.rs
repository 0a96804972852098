mod digester;
mod probes;
mod quality;
