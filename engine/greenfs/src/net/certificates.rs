//! `certificates`: an authority of one's own, and what it signs for a server and its clients.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

use crate::fault::Fault;
use crate::net::keys::{CA, CERTIFICATE, KEY};
use crate::sys;

/// The authority's own key: it is needed for further certificates alone.
const AUTHORITY_KEY: &str = "ca-key.pem";

const SERVER: &str = "server";

/// Make what is missing in a folder: an authority, the keys of a server that is known by these names and
/// addresses, and those of a client. Each goes into a folder of its own. Returns the folders that were
/// made.
///
/// # Errors
/// If the client has keys there already, or something cannot be written; nothing is replaced.
pub fn make(folder: &Path, hosts: &[String], client: &str) -> Result<Vec<PathBuf>, Fault> {
    let next = "name another folder, or another --client";
    let failed = |error: io::Error| {
        let what = format!("the keys cannot be made: {error}");
        Fault::new(what, folder, next)
    };
    if client == SERVER || client.contains('/') || client.starts_with('.') || client.is_empty() {
        return Err(Fault::new(
            format!("'{client}' is no name for a client"),
            folder,
            next,
        ));
    }
    private_folder(folder).map_err(failed)?;
    let authority = authority(folder).map_err(failed)?;
    let mut made = Vec::new();
    let server = folder.join(SERVER);
    if !server.exists() {
        let local = ["localhost", "127.0.0.1", "::1"].map(String::from);
        let names = local.into_iter().chain(hosts.iter().cloned()).collect();
        sign(
            &authority,
            &server,
            names,
            ExtendedKeyUsagePurpose::ServerAuth,
        )
        .map_err(failed)?;
        made.push(server);
    } else if !hosts.is_empty() {
        let what = "the server has keys already, for the hosts that were named then";
        let next = "move its folder aside to make others";
        return Err(Fault::new(what, &server, next));
    }
    let place = folder.join(client);
    let (names, usage) = (vec![client.to_owned()], ExtendedKeyUsagePurpose::ClientAuth);
    sign(&authority, &place, names, usage).map_err(failed)?;
    made.push(place);
    Ok(made)
}

struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: String,
}

/// The authority of a folder, made if there is none.
fn authority(folder: &Path) -> io::Result<Authority> {
    let certificate = read(&folder.join(CA))?;
    let key = match read(&folder.join(AUTHORITY_KEY))? {
        Some(text) => KeyPair::from_pem(&text).map_err(io::Error::other)?,
        None if certificate.is_some() => {
            let what = format!("{AUTHORITY_KEY}, the key of {CA}, is not there");
            return Err(io::Error::new(io::ErrorKind::NotFound, what));
        }
        None => {
            let key = KeyPair::generate().map_err(io::Error::other)?;
            put_whole(folder, AUTHORITY_KEY, &key.serialize_pem(), 0o600)?;
            key
        }
    };
    let params = params(&key);
    let certificate = match certificate {
        Some(certificate) => certificate,
        None => {
            let certificate = params.self_signed(&key).map_err(io::Error::other)?.pem();
            put_whole(folder, CA, &certificate, 0o644)?;
            certificate
        }
    };
    Ok(Authority {
        issuer: Issuer::new(params, key),
        certificate,
    })
}

/// The text of a file; none if there is no such file.
fn read(file: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        text => text.map(Some),
    }
}

/// What the certificate of an authority says, by its key alone.
fn params(key: &KeyPair) -> CertificateParams {
    let mut params = CertificateParams::default();
    // Each has another name, by which TLS finds out who does not belong together.
    let digits = key.public_key_raw().iter().rev().take(8);
    let digits: String = digits.map(|byte| format!("{byte:02x}")).collect();
    let name = &mut params.distinguished_name;
    name.push(DnType::CommonName, format!("greenfs authority {digits}"));
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    params
}

/// Write a folder of keys that is whole once it has its name.
fn sign(
    authority: &Authority,
    place: &Path,
    names: Vec<String>,
    usage: ExtendedKeyUsagePurpose,
) -> io::Result<()> {
    let mut params = CertificateParams::new(names.clone()).map_err(io::Error::other)?;
    if let Some(name) = names.first() {
        params
            .distinguished_name
            .push(DnType::CommonName, name.as_str());
    }
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![usage];
    params.use_authority_key_identifier_extension = true;
    let key = KeyPair::generate().map_err(io::Error::other)?;
    let certificate = params
        .signed_by(&key, &authority.issuer)
        .map_err(io::Error::other)?;
    if place.exists() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let new = partial(place);
    let _ = fs::remove_dir_all(&new);
    private_folder(&new)?;
    put(&new.join(CA), &authority.certificate, 0o644)?;
    put(&new.join(CERTIFICATE), &certificate.pem(), 0o644)?;
    put(&new.join(KEY), &key.serialize_pem(), 0o600)?;
    fs::rename(&new, place)
}

fn private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Where something is until it is whole: no client has such a name.
fn partial(place: &Path) -> PathBuf {
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    place.with_file_name(format!(".{name}.partial"))
}

/// Write a new file that is whole once it has its name.
fn put_whole(folder: &Path, name: &str, text: &str, mode: u32) -> io::Result<()> {
    let place = folder.join(name);
    let new = partial(&place);
    let _ = fs::remove_file(&new);
    put(&new, text, mode)?;
    match sys::rename_to_free(&new, &place) {
        // NFS knows no such rename.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => fs::rename(&new, &place),
        renamed => renamed,
    }
}

/// Write a new file that is durable.
fn put(file: &Path, text: &str, mode: u32) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(file)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("greenfs-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    /// The keys of one client are no place to make those of another.
    #[test]
    fn the_keys_of_a_client_stay() {
        let folder = empty("clients");
        make(&folder, &[], "laptop.new").expect("it is new");
        make(&folder, &[], "laptop").expect("it is new");
        assert!(folder.join("laptop.new").join(KEY).exists());
        fs::remove_dir_all(&folder).expect("it is there");
    }

    /// Killed at any time, it goes on when it is called again.
    #[test]
    fn an_authority_is_completed() {
        let folder = empty("authority");
        make(&folder, &[], "one").expect("it is new");
        fs::remove_file(folder.join(CA)).expect("it is there");
        fs::write(folder.join(".ca.pem.partial"), "-----BEG").expect("it is writable");
        make(&folder, &[], "two").expect("there is a key");
        let of_two = fs::read(folder.join("two").join(CA)).expect("it is there");
        assert_eq!(fs::read(folder.join(CA)).expect("it is made"), of_two);

        fs::remove_file(folder.join(AUTHORITY_KEY)).expect("it is there");
        let fault = make(&folder, &[], "three").expect_err("it cannot sign");
        assert!(fault.what.contains(AUTHORITY_KEY), "{fault}");
        fs::remove_dir_all(&folder).expect("it is there");
    }
}
