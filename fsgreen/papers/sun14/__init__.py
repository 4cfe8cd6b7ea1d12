"""Sun, Qin and Xie: file systems and I/O schedulers for solid state disks (2014)."""
