"""The view in a kernel that stops."""

import pytest
from jupyter_client.manager import start_new_kernel

from fsgreen import paths
from tests.patience import LIMIT_S

WATCH = """
from fsgreen.view import Synthetic, live
view = live(Synthetic(1000.0))
while view.cost.frames_count < 3: pass
"""


@pytest.mark.notebook
def test_a_kernel_that_stops_while_a_view_runs_stops_in_silence(tmp_path):
    """A thread that outlives the channels of its kernel would fill the log with tracebacks."""
    with (tmp_path / "stderr").open("wb") as stderr:
        manager, client = start_new_kernel(
            kernel_name="python3",
            cwd=str(paths.root()),
            stderr=stderr,
            transport_encryption="auto",
        )
        try:
            reply = client.execute_interactive(WATCH, timeout=LIMIT_S, output_hook=lambda _: None)
            assert reply["content"]["status"] == "ok", reply["content"]
        finally:
            client.stop_channels()
            manager.shutdown_kernel()
            manager.cleanup_resources()
    said = (tmp_path / "stderr").read_text()
    assert "Traceback" not in said and "Exception" not in said, said
