//! `fsgreen-wml`: checks, prepares and runs workloads.

fn main() -> std::process::ExitCode {
    let exit = wml::cli::main(std::env::args_os().skip(1));
    std::process::ExitCode::from(exit as u8)
}
