"""A stack in the guest of a virtual machine: what asks for it here, and what makes it there."""
