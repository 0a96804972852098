//! What a server refuses to start with.

use std::net::SocketAddr;
use std::path::Path;

use oneread_server::serve::{Error, Options, Server, Source};

use crate::{both, seal};

#[test]
fn other_machines_need_a_token() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.store");
    seal(&path, 10, 1);
    let open = SocketAddr::from(([0, 0, 0, 0], 0));
    for (options, is_refused) in [
        (both(&[("a", &path)]).http(open), true),
        (both(&[("a", &path)]).resp(open), true),
        (both(&[("a", &path)]).resp(open).without_token(true), false),
        (both(&[("a", &path)]).resp(open).token("0123456789abcdef"), false),
    ] {
        match Server::start(options) {
            Ok(server) => {
                assert!(!is_refused);
                server.stop();
            }
            Err(error) => assert!(is_refused && matches!(error, Error::Open { .. }), "{error}"),
        }
    }
    assert!(matches!(Server::start(both(&[("a", &path)]).token("short")), Err(Error::Option { .. })));
}

#[test]
fn senseless_options_are_errors() {
    let missing = Path::new("/no/such/file");
    assert!(matches!(Server::start(both(&[("a", missing)])), Err(Error::Source { .. })));
    assert!(matches!(Server::start(both(&[])), Err(Error::Option { .. })));
    assert!(matches!(Server::start(both(&[("a", missing), ("a", missing)])), Err(Error::Option { .. })));
    let source = Source::parse("a=b").unwrap();
    assert!(matches!(Server::start(Options::new(vec![source])), Err(Error::Option { .. })));
    for wrong in ["", "a", "=b", "a=", "a/b=c", "ä=b"] {
        assert!(Source::parse(wrong).is_err(), "{wrong}");
    }
    assert!(Source::parse("a=s3://bucket/b?c=d").is_ok());
}
