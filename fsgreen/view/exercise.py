"""Something to look at where no study is being measured."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from fsgreen.view.progress import Progress

SIZE_B = 16384


def exercise(progress: Progress, *, idle_s: float, work_s: float) -> None:
    """Do nothing, then write and sync small files below the temporary folder, then nothing again.

    `progress` is told of the phases `idle`, `measure` and `idle`, and of each file. It is no
    benchmark: a single file is written over and over.
    """
    data = os.urandom(SIZE_B)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "file"
        progress.begin("idle")
        time.sleep(idle_s)
        progress.begin("measure")
        end_s = time.monotonic() + work_s
        while time.monotonic() < end_s:
            with file.open("wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            progress.count()
        progress.begin("idle")
        time.sleep(idle_s)
        progress.end()
