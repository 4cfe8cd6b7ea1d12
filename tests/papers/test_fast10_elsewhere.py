"""Which cells say nothing of what fast10 prints, as they are in another state than it asks for."""

import pytest
import synthetic
from synthetic_fast10 import CELLS

from fsgreen.papers.fast10.elsewhere import elsewhere


@pytest.mark.parametrize(
    ("read_percent", "request_s", "expected"),
    [
        (1.0, 0.003, set()),
        (1.0, 0.001, {("webserver", "ext3", "dtlg"), ("webserver", "ext3", "wrbck")}),
        (90.0, 0.003, {("webserver", "ext3", name) for name in ("default", "dtlg", "wrbck")}),
    ],
    ids=["as asked", "no disk to wait for", "the disk answered"],
)
def test_a_cell_is_held_to_what_each_claim_about_it_asks(read_percent, request_s, expected):
    """A default that memory answered is as the print, while an option of the journal is not."""
    trials = synthetic.trials_frame(CELLS).assign(
        device_read_percent=read_percent, device_request_s=request_s
    )
    of_ext3 = trials[(trials["workload"] == "webserver") & (trials["file_system"] == "ext3")]
    assert elsewhere(of_ext3) == expected
