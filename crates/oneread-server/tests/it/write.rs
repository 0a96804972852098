//! Changes of live stores.

use oneread_server::serve::Server;
use oneread_store::{Store, StoreOptions};

use crate::{Resp, both, get, http};

#[test]
fn acknowledged_changes_are_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.store");
    Store::create(&path, StoreOptions::new()).unwrap().put(b"old", b"1").unwrap();
    let server = Server::start(both(&[("live", &path)]).writable(true)).unwrap();
    let mut client = Resp::new(server.resp().unwrap());
    let to = server.http().unwrap();
    assert_eq!(client.ask("SET|a|1"), "+OK");
    // Together in one batch, of which one is too long.
    let long = vec![b'k'; 2000];
    client.send(&[b"SET", b"b", b"2"]);
    client.send(&[b"SET", &long, b"3"]);
    client.send(&[b"SET", b"c", b"4"]);
    client.send(&[b"GET", b"b"]);
    let replies: Vec<_> = (0..4).map(|_| crate::shown(&client.reply().unwrap())).collect();
    assert_eq!((&*replies[0], &*replies[2], &*replies[3]), ("+OK", "+OK", "2"));
    assert!(replies[1].starts_with("-ERR "), "{}", replies[1]);
    assert_eq!(client.ask("DEL|a|a|none|old"), "2");
    assert_eq!(http(to, "PUT /v1/live/d", &[], b"\x00\xff").0, 204);
    assert_eq!(http(to, "PUT /v1/live/e", &[], b"5").0, 204);
    assert_eq!(http(to, "DELETE /v1/live/e", &[], b"").0, 204);
    assert_eq!(http(to, "DELETE /v1/live/e", &[], b"").0, 404);
    assert_eq!(http(to, "GET /v1/live/d", &[], b"").2, b"\x00\xff");
    assert_eq!(client.ask("DBSIZE"), "3");
    server.stop();

    // Another server of it, which only reads, beside a writer.
    let writer = Store::open(&path, StoreOptions::new()).unwrap();
    let server = Server::start(both(&[("live", &path)])).unwrap();
    let to = server.http().unwrap();
    let mut client = Resp::new(server.resp().unwrap());
    // The decoder knows only the nulls of version 3.
    client.ask("HELLO|3");
    assert_eq!(client.ask("MGET|a|b|c|old|e"), "[nil, 2, 4, nil, nil]");
    assert_eq!(http(to, "PUT /v1/live/d", &[], b"6").0, 405);
    assert!(client.ask("SET|d|6").starts_with("-READONLY"));
    writer.put(b"f", b"7").unwrap();
    let deadline = std::time::Instant::now() + crate::PATIENCE;
    while get(to, "/v1/live/f").0 != 200 {
        assert!(std::time::Instant::now() < deadline, "the change is not found");
    }
    server.stop();
}
