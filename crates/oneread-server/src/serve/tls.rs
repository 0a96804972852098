//! TLS, by rustls.

use std::path::Path;
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::error::Error;
use super::options::Tls;

/// Reads the certificates and the key.
pub(super) fn acceptor(tls: &Tls) -> Result<TlsAcceptor, Error> {
    let unusable = |path: &Path, what: &dyn std::fmt::Display| Error::Tls {
        what: format!("{}: {what}", path.display()),
    };
    let certificates: Vec<_> = CertificateDer::pem_file_iter(&tls.certificates)
        .and_then(Iterator::collect)
        .map_err(|error| unusable(&tls.certificates, &error))?;
    if certificates.is_empty() {
        return Err(unusable(&tls.certificates, &"expected a certificate in PEM, found none"));
    }
    let key = PrivateKeyDer::from_pem_file(&tls.key).map_err(|error| unusable(&tls.key, &error))?;
    // Named, since a program may have several providers.
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map(|config| config.with_no_client_auth())
        .and_then(|config| config.with_single_cert(certificates, key))
        .map_err(|error| Error::Tls {
            what: format!("{} with {}: {error}", tls.certificates.display(), tls.key.display()),
        })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
