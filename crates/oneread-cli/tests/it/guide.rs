//! Runs the `sh` blocks of the README and the guides, and compares their output with the text.

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn every_command_in_the_readme_and_the_guides_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![root.join("README.md"), root.join("crates/oneread-cli/README.md")];
    let guide = fs::read_dir(root.join("docs/guide")).expect("the guides");
    pages.extend(guide.map(|entry| entry.expect("a page").path()));
    // Its commands are in builds with that feature only.
    pages.retain(|page| cfg!(feature = "dataset") || !page.ends_with("datasets.md"));
    pages.retain(|page| cfg!(feature = "server") || !page.ends_with("server.md"));
    let ran: usize = pages.iter().map(run).sum();
    assert!(ran > 20, "only {ran} commands: are the blocks still marked `sh`?");
}

/// Runs the commands of a page in order in an empty folder; returns their number.
fn run(page: &PathBuf) -> usize {
    let folder = tempfile::tempdir().expect("a folder");
    let program = Path::new(env!("CARGO_BIN_EXE_oneread"));
    let path = format!("{}:/usr/bin:/bin", program.parent().expect("its folder").display());
    let text = fs::read_to_string(page).expect("a page");
    let commands = commands(&on_free_ports(&text));
    for command in &commands {
        let output = Command::new("sh")
            .args(["-c", command])
            .current_dir(folder.path())
            .env("PATH", &path)
            .output()
            .expect("a shell");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: `{command}` failed:\n{said}", page.display());
        if let Some((_, promised)) = command.split_once("# prints ") {
            let printed = String::from_utf8_lossy(&output.stdout);
            let printed: Vec<&str> = printed.lines().collect();
            assert_eq!(printed.join(" and "), promised, "{}: `{command}`", page.display());
        }
    }
    commands.len()
}

/// The page with free ports in place of those that it names, which another program may have.
fn on_free_ports(text: &str) -> String {
    let named: BTreeSet<&str> = text
        .split("127.0.0.1:")
        .skip(1)
        .map(|rest| rest.split(|next: char| !next.is_ascii_digit()).next().unwrap_or_default())
        .filter(|port| port.len() == 5)
        .collect();
    // All are held until each has another one.
    let held: Vec<_> = named.iter().map(|_| TcpListener::bind("127.0.0.1:0").expect("a port")).collect();
    named.iter().zip(&held).fold(text.to_owned(), |text, (port, free)| {
        text.replace(port, &free.local_addr().expect("its address").port().to_string())
    })
}

/// The lines of all `sh` blocks that hold a command.
fn commands(text: &str) -> Vec<String> {
    let blocks = text.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    let lines = blocks.flat_map(str::lines).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(str::to_owned).collect()
}
