"""What the simulator does to an SSD, in the words by which a record tells one from other disks."""

from __future__ import annotations

STATES = {
    "initial": "the simulator erased all of the SSD, as a secure erase does",
    "steady": "the simulator overwrote all of the SSD at random until it was as slow as it gets",
}
"""The sentence for each level of the factor `device` that it can bring about."""
