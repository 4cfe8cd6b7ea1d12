"""The raw traces of a campaign in one file: what DVC keeps and ships, and people send each other.

A campaign of 900 trials is 6,700 small files. In one they take a sixth of the bytes, because the
tables of one kind stand side by side and have much in common. A large table of power is left out,
where its raw trace makes the same bytes again. A raw trace has its bytes without base64 (`apart`),
and tables other than those of power have no compression of their own (`plain`).
"""

from __future__ import annotations

import filecmp
import io
import lzma
import os
import shutil
import tarfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import groupby
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from fsgreen import absence, paths
from fsgreen.durable import sha256_of, whole
from fsgreen.errors import FsgreenError
from fsgreen.pipeline.apart import put_together, taken_apart
from fsgreen.pipeline.plain import made_plain, made_small
from fsgreen.progress import progress

UNREADABLE = (
    *(tarfile.TarError, lzma.LZMAError, EOFError, ValueError),
    *(FileExistsError, NotADirectoryError),
)
"""What is raised by a file that is no pack, or was damaged; the last two by names that repeat."""


TABLE, RAW = "power.parquet", "power.raw"
APART, PLAIN = ".apart", ".plain"
"""What is added to the name of a raw trace that was taken apart, and of a table made plain."""

INTO: dict[str, Callable[[bytes], bytes | None]] = {APART: taken_apart, PLAIN: made_plain}
"""What makes the contents that a pack has of a file; None if the file is packed as it is."""

OUT_OF: dict[str, Callable[[bytes], bytes]] = {APART: put_together, PLAIN: made_small}
"""What makes the file again of the contents that a pack has."""

LARGEST_B = 1 << 28
"""Up to this size a file is changed for its pack; a raw trace then takes five times as much memory.
"""

PRESET = 9 | lzma.PRESET_EXTREME
"""How xz packs: with its largest dictionary, and a longer search."""

LARGE_B = 1 << 13
"""From this size on a table of power is left out: at ten samples a second it is a third of a pack,
and at kilohertz most of it. Leaving out smaller ones would save little space and cost time."""


def pack(campaign: str) -> Path:
    """Pack the raw traces of a campaign; return the file, `data/packed/CAMPAIGN.tar.xz`.

    The same traces make the same bytes, by one version of liblzma and one of PyArrow. A trial that
    is being written is left out. The dictionary of xz has 64 MiB (its preset 9): with it, traces at
    kilohertz are a tenth smaller than by default, and packing takes 700 MB of memory. Its longer
    search makes them 3 % smaller still.

    Raises FsgreenError if there is no such campaign, a file of a trial is not the one that was
    recorded, or an older fsgreen has unpacked a pack of this one here.
    """
    # It takes pandas along, which a run of the pipeline with nothing to do is spared.
    from fsgreen.trial import list_trials

    folder, file = paths.raw(campaign), paths.packed(campaign)
    if not (folder / paths.PLAN).is_file():
        raise absence.unknown_campaign(campaign)
    for trial in list_trials(folder):
        trial.verify()
    file.parent.mkdir(parents=True, exist_ok=True)
    names = sorted(_names(folder), key=lambda name: (name.name, name))
    with (
        whole(file) as partial,
        lzma.open(partial, "wb", preset=PRESET) as stream,
        tarfile.open(fileobj=stream, mode="w", dereference=True) as tar,
    ):
        for name in progress(names, f"packing {campaign}", "files"):
            if _original(name) is not None:
                raise FsgreenError(
                    f"{name} is no file of a campaign: an older fsgreen unpacked it",
                    where=folder,
                    next_step=f"fsgreen unpack {campaign}, then: "
                    f"find {folder} -name '*{name.suffix}' -delete",
                )
            if (changed := _changed(folder, name)) is not None:
                member = _nobodys(tarfile.TarInfo(f"{name}{_suffix(name)}"))
                member.size = len(changed)
                tar.addfile(member, io.BytesIO(changed))
            elif not _is_made_again(folder / name):
                tar.add(folder / name, str(name), filter=_nobodys)
    return file


def unpack(campaign: str) -> Path:
    """Put the raw traces of a campaign in place, out of its pack; return their folder.

    Trials that were measured since are left alone. A trial comes whole or not at all, also if this
    is broken off.

    Raises FsgreenError if there is no pack, it is damaged, a file that was changed is in the way,
    or a table comes out as other bytes than it was measured.
    """
    folder, file = paths.raw(campaign), paths.packed(campaign)
    if not file.is_file():
        raise FsgreenError(
            f"there is no pack of the traces of '{campaign}'",
            where=file,
            next_step="./run reproduce brings those that ship; pack your own where they were "
            f"measured: fsgreen pack {campaign}",
        )
    beside = file.with_name(f".{campaign}.partial")
    shutil.rmtree(beside, ignore_errors=True)
    try:
        made = [*_extract(file, beside), *_make_tables(beside)]
        _compare_with_records(made, beside, file)
        if changed := [
            name for name in _names(beside) if _is_another(folder / name, beside / name)
        ]:
            more = f", nor are {len(changed) - 1} files more" if len(changed) > 1 else ""
            raise FsgreenError(
                f"{changed[0]} is not what was packed{more}",
                where=folder,
                next_step=f"for that of the pack, move this away, then: fsgreen unpack {campaign}",
            )
        folder.parent.mkdir(parents=True, exist_ok=True)
        _move(beside, folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return folder


def _names(folder: Path) -> Iterator[PurePosixPath]:
    """Yield the files below a folder but those that are being written, by their names in it."""
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.endswith(".partial")]
        inside = PurePosixPath(Path(place).relative_to(folder))
        yield from (inside / name for name in files if not name.endswith(".partial"))


def _suffix(name: PurePosixPath) -> str | None:
    """Return what is added to the name of a file of this name, if it is changed for its pack."""
    if name.name == RAW:
        return APART
    return PLAIN if name.suffix == ".parquet" and name.name != TABLE else None


def _original(name: PurePosixPath) -> PurePosixPath | None:
    """Return the name of the file of which a pack has this; None if it has the file as it is."""
    original = name.with_suffix("")
    return original if _suffix(original) == name.suffix else None


def _changed(folder: Path, name: PurePosixPath) -> bytes | None:
    """Return the contents that a pack has of a file; None if the file is packed as it is."""
    file, suffix = folder / name, _suffix(name)
    if suffix is None or file.stat().st_size > LARGEST_B:
        return None
    if suffix == PLAIN and not _is_as_recorded(file):
        return None  # Nothing could be compared with what comes out.
    changed = INTO[suffix](file.read_bytes())
    return None if changed is None or len(changed) > LARGEST_B else changed


def _recorded(folder: Path) -> Mapping[str, str]:
    """Return the SHA-256 of each file of a trial by its name, as it was recorded."""
    from fsgreen.trial import read_trial

    return read_trial(folder, copy=True).record.files


def _is_as_recorded(file: Path) -> bool:
    with suppress(FsgreenError):
        return _recorded(file.parent).get(file.name) == sha256_of(file)
    return False


def _is_made_again(file: Path) -> bool:
    """Return whether a file is a large table of power that its raw trace makes to the byte."""
    raw = file.with_name(RAW)
    is_large = file.name == TABLE and file.stat().st_size >= LARGE_B
    if not (is_large and raw.is_file() and _is_as_recorded(file)):
        return False
    from fsgreen.meters.core.rawtrace import write_parsed

    with TemporaryDirectory() as folder, suppress(FsgreenError):
        made = Path(folder) / TABLE
        write_parsed(raw, made)
        return filecmp.cmp(made, file, shallow=False)
    return False


def _make_tables(folder: Path) -> list[Path]:
    """Make the tables of power that a pack leaves out, and return them."""
    lacking = [raw for raw in sorted(folder.rglob(RAW)) if not raw.with_name(TABLE).exists()]
    if not lacking:
        return []
    from fsgreen.meters.core.rawtrace import write_parsed

    made = []
    for raw in progress(lacking, "making tables of power", "trials"):
        if TABLE in _recorded(raw.parent):  # a trial that failed early may have none
            write_parsed(raw, raw.with_name(TABLE))
            made.append(raw.with_name(TABLE))
    return made


def _compare_with_records(made: list[Path], folder: Path, pack: Path) -> None:
    """Compare files that were made again with the records of their trials.

    Raises FsgreenError if one has other bytes, or is in no record.
    """
    for trial, files in groupby(sorted(made), key=lambda file: file.parent):
        try:
            recorded = _recorded(trial)
        except FsgreenError as error:
            raise _no_whole_pack(pack, error.what) from error
        for file in files:
            if sha256_of(file) != recorded.get(file.name):
                raise FsgreenError(
                    f"{file.relative_to(folder)} comes out as other bytes than it was measured",
                    where=pack,
                    next_step="unpack it with the PyArrow with which it was packed, that of "
                    "requirements.lock at the time: ./run environment",
                )


def _no_whole_pack(pack: Path, why: object) -> FsgreenError:
    return FsgreenError(
        f"this is no whole pack of traces: {why}",
        where=pack,
        next_step="git checkout -- data/store, then ./run reproduce (shipped traces); "
        "else pack them again where they were measured",
    )


def _nobodys(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Return a member without what differs from machine to machine: its owner and its time."""
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    member.mode = 0o644
    return member


def _extract(file: Path, into: Path) -> list[Path]:
    """Write all files of a pack, which may come from anybody; return the tables plain in it."""
    tables = []
    try:
        with lzma.open(file) as stream, tarfile.open(fileobj=stream) as tar:
            for member in tar:
                name = PurePosixPath(member.name)
                if not member.isfile() or name.is_absolute() or ".." in name.parts:
                    raise tarfile.TarError(f"{name} is no file of a campaign")
                original = _original(name)
                if original is not None and (member.issparse() or member.size > LARGEST_B):
                    raise tarfile.TarError(f"{name} is larger than any that was changed")
                content = tar.extractfile(member)
                assert content is not None
                target = into / (original or name)
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("xb") as written:
                    if original is None:
                        shutil.copyfileobj(content, written)
                    else:
                        written.write(OUT_OF[name.suffix](content.read()))
                if original is not None and name.suffix == PLAIN:
                    tables.append(target)
            while stream.read(1 << 20):  # the check of all bytes stands at their end
                pass
        if not (into / paths.PLAN).is_file():
            raise tarfile.TarError(f"it has no {paths.PLAN}")
    except UNREADABLE as error:
        raise _no_whole_pack(file, error) from error
    return tables


def _is_another(there: Path, packed: Path) -> bool:
    return there.exists() and not (there.is_file() and filecmp.cmp(there, packed, shallow=False))


def _move(source: Path, target: Path) -> None:
    """Move what is not there yet, a folder as a whole."""
    if not target.exists():
        source.rename(target)
    elif source.is_dir():
        for entry in sorted(source.iterdir()):
            _move(entry, target / entry.name)
