"""Notebooks run by papermill, and the pipeline that DVC makes of them."""

from fsgreen.pipeline.notebook import code_digest, notebook_parameters, run_notebook, write_digests
from fsgreen.pipeline.stages import (
    ANALYSIS,
    after_measure,
    campaigns,
    check_analysed,
    pull,
    reproduce,
    step,
)

__all__ = [
    "ANALYSIS",
    "after_measure",
    "campaigns",
    "check_analysed",
    "code_digest",
    "notebook_parameters",
    "pull",
    "reproduce",
    "run_notebook",
    "step",
    "write_digests",
]
