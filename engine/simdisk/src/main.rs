//! `fsgreen-simdisk`: disks in software, in real and in virtual time.

fn main() -> std::process::ExitCode {
    simdisk::cli::main(std::env::args_os().skip(1))
}
