//! Names of files as text: what is not UTF-8 is written as `%` and two hexadecimal digits, and so
//! is `%` itself.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

/// The text of a name or a path.
pub fn encoded(name: &OsStr) -> String {
    let mut text = String::new();
    for chunk in name.as_bytes().utf8_chunks() {
        text += &chunk.valid().replace('%', "%25");
        for byte in chunk.invalid() {
            text += &format!("%{byte:02x}");
        }
    }
    text
}

/// A path as a person reads it: what would steer a terminal is spelled out.
pub fn shown(path: &Path) -> String {
    let spelled = |letter: char| match letter.is_control() {
        true => letter.escape_default().to_string(),
        false => letter.into(),
    };
    path.to_string_lossy().chars().map(spelled).collect()
}

/// The name that a text stands for; none if it stands for no name.
pub fn decoded(text: &str) -> Option<OsString> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend(rest.as_bytes());
    }
    (!bytes.contains(&0)).then(|| OsString::from_vec(bytes))
}

pub fn serialize<T: AsRef<OsStr>, S: Serializer>(name: &T, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&encoded(name.as_ref()))
}

pub fn deserialize<'de, T, D>(from: D) -> Result<T, D::Error>
where
    T: From<OsString>,
    D: Deserializer<'de>,
{
    let text = String::deserialize(from)?;
    let name = decoded(&text).ok_or_else(|| D::Error::custom(format!("'{text}' is no name")))?;
    Ok(name.into())
}
