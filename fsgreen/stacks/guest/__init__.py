"""A stack in the guest of a virtual machine: the part on the host, and the part in the guest."""
