"""A server's power by its management controller (Redfish)."""
