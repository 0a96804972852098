//! Stores that are damaged while they are served.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;

use oneread_server::serve::Server;

use crate::{Resp, both, get, http, seal};

#[test]
fn a_damaged_store_is_named_and_the_others_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let (bad, good) = (folder.path().join("bad.store"), folder.path().join("good.store"));
    seal(&bad, 1000, 1);
    seal(&good, 1000, 1);
    let server = Server::start(both(&[("first", &bad), ("second", &good)])).unwrap();
    let to = server.http().unwrap();
    let mut client = Resp::new(server.resp().unwrap());
    // The same file with other bytes behind its first page, none of which was looked at yet.
    let file = OpenOptions::new().write(true).open(&bad).unwrap();
    let bytes = file.metadata().unwrap().len() - 4096;
    file.write_all_at(&vec![0xa5; bytes as usize], 4096).unwrap();
    for _ in 0..2 {
        let (status, said) = get(to, "/v1/first/key%2042");
        assert_eq!(status, 500, "{said}");
        assert!(said.contains("first (bad.store)"), "{said}");
        assert!(!said.contains(&*folder.path().to_string_lossy()), "folders are not the client's: {said}");
        let (status, _, said) = http(to, "POST /v1/first/batch", &[], br#"{"keys":["key 1","key 2"]}"#);
        assert_eq!(status, 500);
        assert!(String::from_utf8_lossy(&said).contains("first (bad.store)"));
        let reply = client.ask("GET|key 42");
        assert!(reply.starts_with("-ERR first (bad.store)"), "{reply}");
        let reply = client.ask("EXISTS|key 42");
        assert!(reply.starts_with("-ERR first (bad.store)"), "{reply}");
        assert_eq!(get(to, "/v1/second/key%2042"), (200, "value 42 of 1".to_owned()));
        assert_eq!(client.ask("SELECT|second"), "+OK");
        assert_eq!(client.ask("GET|key 42"), "value 42 of 1");
        assert_eq!(client.ask("SELECT|first"), "+OK");
        // Looks for newer versions go on in between.
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    // A whole file under the name heals it, without a restart.
    seal(&bad, 1000, 2);
    let deadline = std::time::Instant::now() + crate::PATIENCE;
    while get(to, "/v1/first/key%2042") != (200, "value 42 of 2".to_owned()) {
        assert!(std::time::Instant::now() < deadline, "the new file is not found");
    }
    server.stop();
}
