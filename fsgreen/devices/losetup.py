"""A loop device on a private image."""

from __future__ import annotations

import json
from pathlib import Path

from fsgreen import commands
from fsgreen.devices import mounts
from fsgreen.errors import FsgreenError


def attach(image: Path, *, lock_fd: int, offset_b: int = 0, size_b: int | None = None) -> Path:
    """Attach an image, or `size_b` of it from `offset_b` on, to a free loop device; return that.

    The device does direct I/O.

    Raises
    ------
    FsgreenError
        If no device is free, or direct I/O does not work on the image.
    """
    try:
        part = [f"--offset={offset_b}", *([] if size_b is None else [f"--sizelimit={size_b}"])]
        device = commands.run(
            ["losetup", "--direct-io=on", *part, "--find", "--show", str(image)], lock_fd=lock_fd
        ).strip()
    except FsgreenError as error:
        raise FsgreenError(
            f"no loop device could be set up ({error.what})",
            where=image,
            next_step="losetup -l shows those in use; detach one with losetup -d, or modprobe loop",
        ) from error
    columns = "NAME,BACK-FILE,DIO"
    table = commands.run(
        ["losetup", "--list", "--json", "--output", columns, device], lock_fd=lock_fd
    )
    (entry,) = json.loads(table)["loopdevices"]
    if not Path(entry["back-file"]).samefile(image) or not entry["dio"]:
        raise FsgreenError(
            "the loop device does no direct I/O on this image",
            where=f"{device} on {mounts.holding(image).file_system}",
            next_step="name a folder on another file system with --folder",
        )
    return Path(device)
