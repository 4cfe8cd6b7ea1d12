//! Serves a device whose every command takes the same time:
//! `fixed-disk AT STORE CONTROL MEGABYTES MICROSECONDS back|through real|instant [die]`.

mod device;

use simdisk::profile::Fault;
use simdisk::serve::floor::Pace;
use simdisk::serve::state::Clock;
use simdisk::serve::{Model, Settings, serve};

fn main() -> Result<(), Fault> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [
        at,
        store,
        control,
        megabytes,
        service_us,
        write,
        clock,
        rest @ ..,
    ] = &arguments[..]
    else {
        panic!("see the head of this file");
    };
    let number = |text: &String| text.parse::<u64>().expect("a whole number");
    let settings = Settings {
        at: at.into(),
        store: store.into(),
        control: control.into(),
        scheduler: "fifo".into(),
        clock: if clock == "real" {
            Clock::Real
        } else {
            Clock::Instant
        },
        die_with_parent: rest.first().is_some_and(|word| word == "die"),
    };
    let (sectors, service_ns) = (number(megabytes) * 2048, number(service_us) * 1000);
    let is_write_back = write == "back";
    let model = Model {
        profile: "fixed".into(),
        name: "Fixed".into(),
        sectors,
        // Tests run beside each other, where time is not judged; but one that takes none is too fast.
        pace: Pace {
            read_4k_ns: if service_ns == 0 { 0 } else { u64::MAX },
            sequential_b_s: 0,
        },
        device: Box::new(move |at| {
            Box::new(device::Fixed::new(sectors, service_ns, is_write_back, at))
        }),
    };
    serve(&settings, model, simdisk::cli::command::print)
}
