"""Rails at 10 kHz and more, sent as blocks over TCP or UDP."""
