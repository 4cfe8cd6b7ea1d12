"""Notebooks run by papermill, and the pipeline that DVC makes of them."""

import sys

from fsgreen.pipeline.closure import code_digest, write_digests
from fsgreen.pipeline.notebook import notebook_parameters, run_notebook
from fsgreen.pipeline.packs import pack, unpack
from fsgreen.pipeline.reproduction import pull, reanalyse, reproduce
from fsgreen.pipeline.stages import after_measure, campaigns, outcomes

# No notebook has an IRI, and jsonschema would compile their grammar at its import, for a second.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

__all__ = [
    "after_measure",
    "campaigns",
    "code_digest",
    "notebook_parameters",
    "outcomes",
    "pack",
    "pull",
    "reanalyse",
    "reproduce",
    "run_notebook",
    "unpack",
    "write_digests",
]
