"""In the guest: what may fail in a request without ending the guest, and its words for the host."""

import subprocess

from fsgreen.errors import FsgreenError

OF_A_REQUEST = (FsgreenError, OSError, subprocess.SubprocessError)


def told(error: BaseException) -> dict[str, str | None]:
    """Return what went wrong, where, and what to do next."""
    if isinstance(error, FsgreenError):
        return {"what": error.what, "where": error.where, "next_step": error.next_step}
    return {"what": f"{type(error).__name__}: {error}", "where": None}
