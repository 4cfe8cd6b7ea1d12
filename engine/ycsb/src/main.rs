//! `fsgreen-ycsb`: fills a RocksDB and works on it.

fn main() -> std::process::ExitCode {
    let exit = ycsb::cli::main(std::env::args_os().skip(1));
    std::process::ExitCode::from(exit as u8)
}
