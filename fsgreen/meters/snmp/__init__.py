"""Power distribution units over SNMP."""
