//! The flags of `oneread studio`.

use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  oneread studio
      prints the address of the pages; Ctrl-C ends it
  oneread studio --listen 127.0.0.1:0
      on any free port

Every state of a page is its address, which can be shared. GET /api/plan/bloom?items=1e6&bits=8e6 answers what
`oneread plan bloom --items 1e6 --bits 8e6 --json` prints; other subcommands of `plan` and `simulate` likewise. The pages
read no file and change nothing, but anybody who reaches the address can make this machine calculate.")]
pub(crate) struct Studio {
    /// The address to listen on.
    #[arg(long, value_name = "ADDRESS", default_value_t = oneread_server::studio::default_address())]
    pub(crate) listen: SocketAddr,
    /// Shows these results of `oneread reproduce --out DIR` on the page of the papers [default:
    /// those of this version].
    #[arg(long, value_name = "DIR")]
    pub(crate) results: Option<PathBuf>,
}
