"""What the members of a fleet show each other: one certificate, and the key to it.

Each side of a connection asks the other for it (TLS with mutual authentication, by Dask). Whoever
holds the folder belongs to the fleet; to leave somebody out, make another and hand it out again.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from fsgreen.durable import whole
from fsgreen.errors import FsgreenError
from fsgreen.fleet.fleetfile import Fleet

if TYPE_CHECKING:
    from distributed import Security

CERTIFICATE, KEY = "certificate.pem", "key.pem"


def make(folder: Path) -> list[Path]:
    """Make a certificate and its key, for a year, and return the files; nobody else may read them.

    Raises FsgreenError if the folder holds something already.
    """
    from distributed import Security

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FsgreenError(
            "something is there already, perhaps the certificates of a fleet",
            where=folder,
            next_step="name a new folder; to replace certificates, remove theirs first",
        )
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    made = Security.temporary()
    texts = {
        CERTIFICATE: made.tls_worker_cert,
        KEY: made.tls_worker_key,
        ".gitignore": "*\n",  # or a key might be published
    }
    for name, text in texts.items():
        with whole(folder / name) as partial:
            partial.touch(0o600)
            partial.write_text(text)
    return [folder / CERTIFICATE, folder / KEY]


def security(fleet: Fleet) -> Security:
    """Return what Dask is to show and to ask for.

    Raises FsgreenError if a file of the certificates is missing, or others may read the key.
    """
    from distributed import Security

    if fleet.certificates is None:
        return Security(require_encryption=False)
    certificate, key = (_readable(fleet.certificates / name) for name in (CERTIFICATE, KEY))
    if os.stat(key).st_mode & 0o077:
        raise FsgreenError(
            "others may read the key of the fleet", where=key, next_step=f"chmod 600 {key}"
        )
    roles = ("client", "scheduler", "worker")
    return Security(
        require_encryption=True,
        tls_ca_file=certificate,
        **{f"tls_{role}_cert": certificate for role in roles},
        **{f"tls_{role}_key": key for role in roles},
    )


def _readable(file: Path) -> str:
    if not os.access(file, os.R_OK):
        raise FsgreenError(
            "there is no such file that you may read",
            where=file,
            next_step=f"fsgreen fleet certificates {file.parent}, once for the whole fleet, then "
            "copy that folder to every machine of it",
        )
    return str(file)
