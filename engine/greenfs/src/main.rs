//! `greenfs`: keeps branches up to what a flash folder holds.

fn main() -> std::process::ExitCode {
    greenfs::cli::main(std::env::args_os().skip(1))
}
