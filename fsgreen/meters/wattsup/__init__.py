"""Watts Up? PRO, PRO ES and .NET over USB serial, and their memory."""
