//! A branch that a server keeps: `greenfs serve`, and the branch that asks it, over TLS 1.3 in which
//! both sides show a certificate.
//!
//! A branch is a `Store`, so what goes over the wire is one call of it at a time: a `request` in a
//! `frame`, and its answers. The server does each on a `Folder`, and the client is a `Store` again; so
//! what is promised after each step of a branch is promised of this one, too. `site` is either.

mod certificates;
mod client;
pub mod frame;
mod hands;
mod keeping;
mod keys;
pub mod request;
mod served;
mod server;
mod session;
mod site;
mod timely;
mod tree;

pub use certificates::make;
pub use server::{Settings, serve};
pub use site::{SCHEME, Site, copied};
