//! Certificates and keys, as TLS needs them.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, RootCertStore, ServerConfig};

use crate::fault::Fault;

/// What lies in a folder of keys.
pub const CA: &str = "ca.pem";
pub const CERTIFICATE: &str = "cert.pem";
pub const KEY: &str = "key.pem";

/// Names the folder with the keys of a client.
const VARIABLE: &str = "GREENFS_KEYS";

fn unusable(place: &Path, error: impl ToString) -> Fault {
    let next = "make keys with `greenfs certificates`, or name those that fit";
    let what = format!("this cannot be used for TLS: {}", error.to_string());
    Fault::new(what, place, next)
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, Fault> {
    let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match read {
        Ok(found) if found.is_empty() => Err(unusable(file, "it holds no certificate")),
        read => read.map_err(|error| unusable(file, error)),
    }
}

fn key(file: &Path) -> Result<PrivateKeyDer<'static>, Fault> {
    PrivateKeyDer::from_pem_file(file).map_err(|error| unusable(file, error))
}

/// Whom to trust: those whose certificate one of these has signed.
fn trusted(file: &Path) -> Result<Arc<RootCertStore>, Fault> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(file)? {
        roots
            .add(certificate)
            .map_err(|error| unusable(file, error))?;
    }
    Ok(Arc::new(roots))
}

/// How a server speaks that has this certificate, with clients that have one of that authority.
///
/// # Errors
/// If a file cannot be read, or they do not fit together.
pub fn server(own: &Path, key_file: &Path, clients: &Path) -> Result<Arc<ServerConfig>, Fault> {
    let verifier = WebPkiClientVerifier::builder(trusted(clients)?).build();
    let verifier = verifier.map_err(|error| unusable(clients, error))?;
    let config = ServerConfig::builder()
        .with_client_cert_verifier(verifier)
        .with_single_cert(certificates(own)?, key(key_file)?);
    let mut config = config.map_err(|error| unusable(key_file, error))?;
    // Every connection shows its certificate anew.
    config.send_tls13_tickets = 0;
    Ok(Arc::new(config))
}

/// How a client speaks: with the keys in the folder that the environment names.
///
/// # Errors
/// If there are none, or they do not fit together.
pub fn client() -> Result<Arc<ClientConfig>, Fault> {
    let folder = folder().map_err(|error| unusable(Path::new(VARIABLE), error))?;
    let own = certificates(&folder.join(CERTIFICATE))?;
    let key_file = folder.join(KEY);
    let config = ClientConfig::builder()
        .with_root_certificates(trusted(&folder.join(CA))?)
        .with_client_auth_cert(own, key(&key_file)?);
    config
        .map(Arc::new)
        .map_err(|error| unusable(&key_file, error))
}

fn folder() -> io::Result<PathBuf> {
    let named = |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty());
    if let Some(folder) = named(VARIABLE) {
        return Ok(folder.into());
    }
    let config = named("XDG_CONFIG_HOME").map(PathBuf::from);
    let config = config.or_else(|| Some(PathBuf::from(named("HOME")?).join(".config")));
    let none = || io::Error::other("it is not set, nor is HOME");
    Ok(config.ok_or_else(none)?.join("greenfs"))
}
