//! The flags of `oneread serve`.

#[derive(clap::Args)]
pub(crate) struct Serve {
    /// What to serve, each under its name: a store, or the folder or URL of a dataset.
    #[arg(required = true, value_name = "NAME=PATH_OR_URL")]
    pub(crate) sources: Vec<String>,
}
