//! A server for tests, in a process of its own.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use super::{Home, text};

/// Serves a folder of a home; killed at the end.
pub struct Server {
    pub process: Child,
    /// `HOST:PORT`.
    pub address: String,
}

impl Server {
    /// Make keys, and serve at any port that is free.
    pub fn new(home: &Home, options: &[&str]) -> Self {
        let mut keys = home.greenfs("certificates");
        text(&keys.arg("keys").output().expect("it was built"));
        Self::at(home, "127.0.0.1:0", options)
    }

    /// Serve the folder `remote` at an address, with the keys that there are.
    pub fn at(home: &Home, address: &str, options: &[&str]) -> Self {
        Self::of(home, "remote", address, options)
    }

    /// Serve a folder at an address, with the keys that there are.
    pub fn of(home: &Home, folder: &str, asked: &str, options: &[&str]) -> Self {
        let mut serve = home.greenfs("serve");
        serve.args([folder, "--listen", asked]);
        serve.args(["--cert", "keys/server/cert.pem"]);
        serve.args(["--key", "keys/server/key.pem"]);
        serve.args(["--clients", "keys/ca.pem"]).args(options);
        let mut process = serve.stdout(Stdio::piped()).spawn().expect("it was built");
        let mut said = String::new();
        let output = process.stdout.take().expect("it is piped");
        let read = BufReader::new(output).read_line(&mut said);
        read.expect("it prints text");
        let address = said.trim().rsplit(' ').next().unwrap_or_default();
        let (host, _) = asked.rsplit_once(':').expect("it has a port");
        assert!(address.starts_with(host), "{said}");
        Self {
            process,
            address: address.to_owned(),
        }
    }

    pub fn url(&self) -> String {
        format!("greenfs://{}", self.address)
    }

    /// Send it a signal by its name.
    pub fn signal(&self, signal: &str) {
        let sent = Command::new("kill")
            .args(["-s", signal, &self.process.id().to_string()])
            .status();
        assert!(sent.expect("kill is there").success());
    }

    pub fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}
