"""A virtual machine as a testbed: a stock Debian kernel in QEMU, as a plain user."""
