"""What others left unwritten is written before a campaign begins, whose first trial would pay."""

from __future__ import annotations

import subprocess
import time
from threading import Thread

from fsgreen import audit
from fsgreen.preflight import load
from fsgreen.progress import progress

LIMIT_S = 120.0
"""How long is waited: a mount whose server is gone keeps `sync` for good."""

LOOK_S = 0.2


def write_out(tree: audit.Tree = audit.HERE) -> None:
    """Have the kernel write to the disks, if more waits for it than the preflight table allows.

    It needs no root. What is still too much after `LIMIT_S`, or comes anew, stands in that table.
    """
    first_b = load.unwritten_b(tree) or 0
    if first_b < load.DIRTY_LIMIT_B:
        return
    # A thread of this process that hung there would let it never end.
    sync = Thread(target=subprocess.run, args=(["sync"],), daemon=True)
    sync.start()
    begin_s, left_b = time.monotonic(), first_b
    with progress(None, "writing what others left unwritten", "MiB", first_b >> 20) as bar:
        while (
            sync.is_alive()
            and left_b >= load.DIRTY_LIMIT_B
            and time.monotonic() - begin_s < LIMIT_S
        ):
            sync.join(LOOK_S)
            left_b = load.unwritten_b(tree) or 0
            bar.update(max(0, (first_b - left_b >> 20) - bar.n))
