"""What fleets and lent cores need beyond the rest of fsgreen."""

from __future__ import annotations

from importlib.util import find_spec

from fsgreen.errors import FsgreenError


def require() -> None:
    """Raise FsgreenError where Dask is not installed."""
    for package in ("distributed", "cryptography"):
        if find_spec(package) is None:
            raise FsgreenError(
                f"fleets and lent cores need the package {package}",
                where="this environment of Python",
                next_step="./run environment; in another: pip install 'fsgreen[fleet]'",
            )
