"""Would this have fooled you? Known confounds: their size, what holds them, whom they endanger.

After Ellard and Seltzer (nfstricks03): a disk is faster at its edge than inside, a queue in the
device reorders requests, a scheduler favours some readers, and each can exceed what is compared.
docs/confounds.md tells how the sizes are estimated and when a comparison is flagged.
"""

from fsgreen.confounds.gate import Gate, sentence
from fsgreen.confounds.known import KNOWN
from fsgreen.confounds.probes import PARTS, probe_basis, probed_place, read_probes, upper_bounds_b_s
from fsgreen.confounds.recorded import recorded_levels
from fsgreen.confounds.size import Size, measured_sizes, size_of
from fsgreen.confounds.table import confounds_table, default_effects_percent, write
from fsgreen.confounds.zones import zones

__all__ = [
    "KNOWN",
    "PARTS",
    "Gate",
    "Size",
    "confounds_table",
    "default_effects_percent",
    "measured_sizes",
    "probe_basis",
    "probed_place",
    "read_probes",
    "recorded_levels",
    "sentence",
    "size_of",
    "upper_bounds_b_s",
    "write",
    "zones",
]
