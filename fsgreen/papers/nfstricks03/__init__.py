"""nfstricks03: NFS Tricks and Benchmarking Traps (2003), the traps of the disk."""
