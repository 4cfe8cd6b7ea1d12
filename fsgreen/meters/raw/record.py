"""Recording one meter for some time, without a campaign: its raw bytes, to be read later."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from fsgreen.errors import FsgreenError
from fsgreen.meters.core.capture import silence_s
from fsgreen.meters.core.rawtrace import RawWriter
from fsgreen.meters.core.registry import open_meters

POLL_S = 0.2


def record(table: Mapping[str, Any], seconds: float, raw: Path) -> None:
    """Record the meter that a table `[[meter]]` describes, until the time is over or Ctrl-C.

    What came is on the disk at any moment. Raises FsgreenError where the file is there already, the
    meter cannot be opened, or falls silent; what came before stays.
    """
    if raw.exists():
        raise FsgreenError("there is a file already", where=raw, next_step="name a new file")
    if not seconds > 0:
        raise FsgreenError(f"{seconds:g} s is no time", next_step="--seconds 60")
    ((name, meter),) = open_meters([table], lambda: None).items()
    info = meter.describe()
    ahead_s = time.time() - time.monotonic()
    with closing(meter), closing(RawWriter(raw, {name: info}, ahead_s=ahead_s)) as writer:
        meter.start()
        heard_s = time.monotonic()
        end_s = heard_s + seconds
        with suppress(KeyboardInterrupt):
            while time.monotonic() < end_s:
                if (chunk := meter.read(POLL_S)) is not None:
                    writer.store(name, chunk)
                    heard_s = time.monotonic()
                elif time.monotonic() - heard_s > silence_s(info):
                    raise FsgreenError(
                        f"the meter went silent: nothing for {silence_s(info):g} s",
                        where=info.model,
                        next_step=f"check its power and cable; what came before is in {raw}",
                    )
        meter.stop()
