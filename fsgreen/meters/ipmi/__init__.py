"""A server's power by its management controller (IPMI DCMI)."""
