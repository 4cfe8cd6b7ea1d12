//! `fsgreen-nfs`: an NFS server that reads ahead, and a client that measures it.

fn main() -> std::process::ExitCode {
    nfs::cli::main(std::env::args_os().skip(1))
}
