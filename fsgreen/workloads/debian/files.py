"""Files that are made once of Debian's packages and kept in the cache; each trial gets a copy."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fsgreen import commands, debian, durable, paths
from fsgreen.debian import Apt, Package
from fsgreen.errors import FsgreenError

FOLDER = "files"
"""The folder of the files, in the cache and in the directory of a trial."""

RECORD = "made.json"
UNFINISHED = "making-"
"""How the folders of files begin that are not made yet."""


class Files(NamedTuple):
    """Files in the cache, and the record of what they were made of."""

    folder: Path
    record: dict[str, Any]

    def check(self) -> None:
        """Raise FsgreenError if the files are no longer as they were made."""
        if digest(self.folder) != self.record["files_sha256"]:
            raise FsgreenError(
                "the files of the workload were changed since they were made",
                where=self.folder,
                next_step=f"rm -r {self.folder.parent}, then the same command again makes them",
            )

    def copy(self, into: Path) -> None:
        """Copy the files into a directory. Raises FsgreenError if they have no room there."""
        try:
            shutil.copytree(self.folder, into / FOLDER, symlinks=True)
        except (OSError, shutil.Error) as error:
            told = error.args[0][0][2] if isinstance(error, shutil.Error) else error
            raise FsgreenError(
                f"the files of the workload could not be copied: {told}",
                where=into,
                next_step="set a larger image_mib in the profile; if the cache was removed "
                "meanwhile, start the same command again",
            ) from error


def apt(name: str, workload: str, kind: debian.Kind) -> Apt:
    """Return apt in a folder of the cache; raises as `debian.Apt` does."""
    return Apt(
        cache() / name,
        purpose=f"the workload {workload} takes files from",
        instead="leave it out of the profile",
        kind=kind,
    )


def cache() -> Path:
    """Return the folder of the files of all such workloads."""
    return paths.cached() / "debian"


def made(
    workload: str, recipe: Mapping[str, Any], make: Callable[[Path], Sequence[Package]]
) -> Files:
    """Return the files that follow from a recipe. They are made now if they are not there.

    `make` writes them into a folder, which is not there yet, and returns the packages that they are
    of. Raises FsgreenError if it does, or if the cache cannot be written to.
    """
    recipe = {**recipe, "suite": debian.SUITE, "architecture": debian.ARCHITECTURE}
    key = hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()
    place = cache() / key[:16]
    with _refusal_explained(), _locked():
        if not (place / RECORD).exists():
            print(f"making the files of {workload} from Debian's packages, once: {place}")
            with tempfile.TemporaryDirectory(dir=cache(), prefix=UNFINISHED) as unfinished:
                files = Path(unfinished, FOLDER)
                packages = make(files)
                shutil.rmtree(place, ignore_errors=True)
                place.mkdir()
                files.rename(place / FOLDER)
            of_packages = {
                one.name: {"version": one.version, "sha256": one.sha256} for one in packages
            }
            commands.run(
                ["sync", "--file-system", str(place)]
            )  # the record is the last to be there
            files_sha256 = digest(place / FOLDER)
            durable.write_json(
                place / RECORD,
                {"recipe": recipe, "packages": of_packages, "files_sha256": files_sha256},
            )
        return Files(place / FOLDER, json.loads((place / RECORD).read_text()))


def digest(folder: Path) -> str:
    """Return the SHA-256 of the names, kinds and data in a folder."""
    together = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        together.update(f"{path.relative_to(folder)}\n".encode(errors="surrogateescape"))
        if path.is_symlink():
            together.update(f"-> {os.readlink(path)}\n".encode(errors="surrogateescape"))
        elif path.is_file():
            together.update(f"{durable.sha256_of(path)}\n".encode())
    return together.hexdigest()


@contextlib.contextmanager
def _locked() -> Iterator[None]:
    """Have the cache alone; remove what others left unfinished."""
    cache().mkdir(parents=True, exist_ok=True)
    with (cache() / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for left in cache().glob(f"{UNFINISHED}*"):
            shutil.rmtree(left)
        yield


@contextlib.contextmanager
def _refusal_explained() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FsgreenError(
            f"the files of the workload could not be made: {error.strerror}",
            where=error.filename or cache(),
            next_step="free some space, or move the cache to a folder that can be written: "
            "XDG_CACHE_HOME=ELSEWHERE",
        ) from error
