//! A remote behind a network that loses packets.

mod common;

use std::fs::{self, File};

use common::lossy::Wire;
use common::serving::Server;
use common::{Home, text};

/// In a train what was said to be safe would not be, or what was away would never be brought.
#[test]
fn a_network_that_loses_packets_loses_no_data() {
    let (Some(mut home), Some(wire)) = (Home::new("loss"), Wire::new()) else {
        return;
    };
    let mut keys = home.greenfs("certificates");
    keys.args(["keys", "--host", &wire.there]);
    text(&keys.output().expect("it was built"));
    let server = Server::at(&home, &format!("{}:0", wire.here), &[]);
    let (_, port) = server.address.rsplit_once(':').expect("it has a port");
    home.mount(&["--remote", &format!("greenfs://{}:{port}", wire.there)]);
    home.wait_for(": connected; holds all");
    // Some of it passes for a cable that is out: a call is given up after two seconds.
    for percent in [5, 20, 100, 20, 0] {
        wire.lose(percent);
        for nth in 0..10 {
            let (path, data) = (format!("{percent}-{nth}"), vec![nth; 50_000]);
            fs::write(home.mnt(&path), &data).expect("no program waits for a network");
            let file = File::open(home.mnt(&path)).expect("it was written");
            file.sync_all().expect("flash has it");
            assert!(fs::read(home.at("flash").join(&path)).expect("it is there") == data);
        }
        fs::remove_file(home.mnt(&format!("{percent}-0"))).expect("it is there");
        if percent == 100 {
            home.wait_for(": away (");
        }
    }
    assert!(wire.lost() > 20, "only {} were lost", wire.lost());
    home.wait_for(": connected; holds all");
    home.same_trees("flash", "remote");
    home.umount();
}
