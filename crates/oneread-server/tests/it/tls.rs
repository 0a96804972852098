//! TLS: both protocols through it, and what is no TLS.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;

use oneread_server::serve::{Error, Server, Tls};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::{Fixture, PATIENCE, both, encoded, seal};

/// A certificate for `localhost` that signs itself, and its key.
struct Files {
    folder: tempfile::TempDir,
    certificate: CertificateDer<'static>,
}

impl Files {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        fs::write(folder.path().join("a.pem"), made.cert.pem()).unwrap();
        fs::write(folder.path().join("a.key"), made.signing_key.serialize_pem()).unwrap();
        Self { folder, certificate: made.cert.der().clone() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn tls(&self, certificates: &str, key: &str) -> Tls {
        Tls { certificates: self.path(certificates), key: self.path(key) }
    }
}

type Stream = StreamOwned<ClientConnection, TcpStream>;

/// Connects as a client that trusts one certificate.
fn connect(to: SocketAddr, trusted: &CertificateDer<'static>) -> Stream {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(to).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let client = ClientConnection::new(Arc::new(config), "localhost".try_into().unwrap()).unwrap();
    StreamOwned::new(client, stream)
}

#[test]
fn both_protocols_come_through_tls_to_those_who_trust_the_certificate() {
    let files = Files::new();
    let fixture = Fixture::with(|options| options.tls(files.tls("a.pem", "a.key")));
    let mut client = connect(fixture.http(), &files.certificate);
    let request = b"GET /v1/a/key%2042 HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    client.write_all(request).unwrap();
    let mut answer = String::new();
    // An end without the alert of TLS would be an error here.
    client.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("\r\n\r\nvalue 42 of 1"), "{answer}");

    let mut client = connect(fixture.server.resp().unwrap(), &files.certificate);
    let commands = [encoded(&[b"GET", b"key 42"]), encoded(&[b"GET", b"none"]), encoded(&[b"QUIT"])];
    client.write_all(&commands.concat()).unwrap();
    let mut replies = String::new();
    client.read_to_string(&mut replies).unwrap();
    assert_eq!(replies, "$13\r\nvalue 42 of 1\r\n$-1\r\n+OK\r\n");

    // One who trusts another certificate ends the handshake himself.
    let mut stranger = connect(fixture.http(), &Files::new().certificate);
    let refused = stranger.write_all(request).and_then(|()| stranger.read(&mut [0; 100])).unwrap_err();
    assert!(refused.to_string().contains("invalid peer certificate"), "{refused}");
    fixture.server.stop();
}

#[test]
fn plain_text_gets_no_value_from_a_port_of_tls() {
    let files = Files::new();
    let fixture = Fixture::with(|options| options.tls(files.tls("a.pem", "a.key")));
    let resp = fixture.server.resp().unwrap();
    let http = b"GET /v1/a/key%2042 HTTP/1.1\r\nhost: localhost\r\n\r\n".to_vec();
    for (to, plain) in [(fixture.http(), http), (resp, encoded(&[b"GET", b"key 42"]))] {
        let mut stream = TcpStream::connect(to).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(&plain).unwrap();
        let mut answer = Vec::new();
        // The end may be a reset; only a server that waits would run into the time limit.
        if let Err(error) = stream.read_to_end(&mut answer) {
            assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{error}");
        }
        // At most an alert of TLS, whose kind is 21.
        assert!(answer.is_empty() || answer[0] == 21, "{}", answer.escape_ascii());
    }
    let mut client = connect(resp, &files.certificate);
    client.write_all(&encoded(&[b"QUIT"])).unwrap();
    client.read_to_string(&mut String::new()).unwrap();
    fixture.server.stop();
}

#[test]
fn unusable_certificates_and_keys_are_errors_that_name_the_file() {
    let files = Files::new();
    let other = Files::new();
    let store = files.path("a.store");
    seal(&store, 10, 1);
    fs::write(files.path("text.pem"), "no certificate\n").unwrap();
    let broken = "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n";
    fs::write(files.path("broken.pem"), broken).unwrap();
    let wrong = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    fs::write(files.path("wrong.pem"), wrong).unwrap();
    fs::copy(other.path("a.key"), files.path("other.key")).unwrap();
    for (certificates, key, named) in [
        ("none.pem", "a.key", "none.pem"),
        ("text.pem", "a.key", "text.pem"),
        ("broken.pem", "a.key", "broken.pem"),
        ("wrong.pem", "a.key", "wrong.pem"),
        ("a.pem", "none.key", "none.key"),
        ("a.pem", "a.pem", "a.pem"),
        // The key of another certificate.
        ("a.pem", "other.key", "other.key"),
    ] {
        let started = Server::start(both(&[("a", &store)]).tls(files.tls(certificates, key)));
        let error = started.err().unwrap_or_else(|| panic!("{certificates} and {key} are taken"));
        assert!(matches!(error, Error::Tls { .. }), "{error}");
        assert!(error.to_string().contains(named), "{certificates}, {key}: {error}");
    }
}
