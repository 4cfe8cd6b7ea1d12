"""Three clients with common trees on `greenfs serve --pool`: how much smaller, and at what cost.

Each client has a copy of a tree with changes of its own: in every 50th file a line is inserted,
every 100th is gone, and it has some files that nobody else has. The servers' processor time is all
that they take, TLS included; beside them are the same servers with plain files, and restic with one
repository (apt-get install restic), without compression, which greenfs has not, and with it. Its
processor time is that of reading the files, too, which the clients of greenfs do.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import command
from bench.processes import run
from bench.rounds import Spread, interleaved, met, print_row
from fsgreen import greenfs

CLIENTS = 3
PLAIN, POOL, ENCRYPTED = "plain files", "pool", "encrypted pool"
RATIO_TARGET_X = 2.8
RATE_TARGET_MB_S = 110.0
BLOCK_B = 512
"""Of st_blocks."""

HEAD = ("way", "MB of clients", "MB stored", "times less", "MB of blocks", "times less", "MB/CPU-s")
WIDTHS = (22, 13, 10, 10, 12, 10, 22)


@dataclass(frozen=True)
class Stored:
    """What the clients had, and what came of it: bytes of files, and of blocks allocated."""

    given_b: int
    stored_b: int
    allocated_b: int
    cpu_s: float

    @property
    def rate_mb_s(self) -> float:
        """MB of clients for each second of processor time."""
        return self.given_b / 1e6 / self.cpu_s


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = command.parser(
        __doc__, example="python -m bench.pool --tree /usr/share --mib 60", rounds=3
    )
    parser.add_argument(
        "--tree", type=Path, default=Path("/usr/lib"), help="(default: %(default)s)"
    )
    parser.add_argument(
        "--mib",
        type=command.positive,
        default=100,
        help="of the tree that are taken at most (default: %(default)s)",
    )
    return parser.parse_args()


def files(folder: Path) -> Iterator[Path]:
    """Yield the regular files below a folder, in the order of their names."""
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            file = Path(place, name)
            if file.is_file() and not file.is_symlink():
                yield file


def copy_tree(tree: Path, most_b: int, to: Path) -> None:
    """Copy the first files of a tree, until they would be more than so many bytes."""
    for file in files(tree):
        if not os.access(file, os.R_OK) or file.stat().st_size > most_b:
            continue
        most_b -= file.stat().st_size
        place = to / file.relative_to(tree)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, place)


def change(tree: Path, client: int) -> None:
    """Make the changes of one client."""
    choice = random.Random(client)
    for nth, file in enumerate(list(files(tree))):
        if nth % 100 == client:
            file.unlink()
        elif nth % 50 == 10 + client:
            data = file.read_bytes()
            at = choice.randrange(len(data) + 1)
            file.write_bytes(data[:at] + f"a line of client {client}\n".encode() + data[at:])
        elif nth % 200 == 20 + client:
            own = choice.randbytes(min(file.stat().st_size, 1 << 20))
            file.with_name(f"own-{client}-{nth}").write_bytes(own)


def bytes_of(*folders: Path) -> tuple[int, int]:
    """Return the bytes of all files in folders, and those of their blocks."""
    found = [file.stat() for folder in folders for file in files(folder)]
    return sum(one.st_size for one in found), sum(one.st_blocks * BLOCK_B for one in found)


def by_greenfs(trees: Sequence[Path], folder: Path, way: str) -> Stored:
    """Bring every tree to a server of its own."""
    keys, pool, key = folder / "keys", folder / "pool", folder / "key"
    greenfs.ask("certificates", keys)
    pool.mkdir()
    options = [] if way == PLAIN else ["--pool", str(pool)]
    if way == ENCRYPTED:
        greenfs.ask("pool", "key", key)
        options += ["--pool-key", str(key)]
    cpu_s = 0.0
    served = []
    for nth, tree in enumerate(trees):
        remote, flash = folder / f"remote{nth}", folder / f"flash{nth}"
        remote.mkdir()
        shutil.copytree(tree, flash)
        served.append(remote)
        words = [greenfs.program(), "serve", str(remote), "--listen", "127.0.0.1:0", *options]
        words += ["--cert", str(keys / "server/cert.pem"), "--key", str(keys / "server/key.pem")]
        words += ["--clients", str(keys / "ca.pem")]
        server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            address = server.stdout.readline().split()[-1]
            greenfs.ask("sync", "--flash", flash, "--remote", f"greenfs://{address}")
        finally:
            server.send_signal(signal.SIGTERM)
            _, status, used = os.wait4(server.pid, 0)
            server.returncode = os.waitstatus_to_exitcode(status)
        cpu_s += used.ru_utime + used.ru_stime
        shutil.rmtree(flash)
    return Stored(bytes_of(*trees)[0], *bytes_of(pool, *served), cpu_s)


def by_restic(trees: Sequence[Path], folder: Path, compression: str) -> Stored:
    """Back every tree up to one repository."""
    restic = ["restic", "--repo", str(folder / "repo"), "--no-cache", "--quiet"]
    run([*restic, "init"])
    cpu_s = 0.0
    for tree in trees:
        used = run([*restic, "--compression", compression, "backup", str(tree)])
        cpu_s += used.user_s + used.system_s
    return Stored(bytes_of(*trees)[0], *bytes_of(folder / "repo"), cpu_s)


def main() -> None:
    """Print a row for each way, and whether the pool is as small and as cheap as it has to be."""
    asked = arguments()
    greenfs.program()
    with tempfile.TemporaryDirectory(dir=asked.directory) as made:
        trees = [Path(made, f"tree{nth}") for nth in range(CLIENTS)]
        for nth, tree in enumerate(trees):
            copy_tree(asked.tree, asked.mib << 20, tree)
            change(tree, nth)

        def alone(way: Callable[[Path], Stored]) -> Callable[[], Stored]:
            def measured() -> Stored:
                with tempfile.TemporaryDirectory(dir=made) as folder:
                    os.environ["GREENFS_KEYS"] = str(Path(folder, "keys/client"))
                    return way(Path(folder))

            return measured

        ways = {
            way: alone(lambda folder, way=way: by_greenfs(trees, folder, way))
            for way in (PLAIN, POOL, ENCRYPTED)
        }
        if shutil.which("restic"):
            os.environ["RESTIC_PASSWORD"] = "as good as any"
            for how in ("off", "auto"):
                name = f"restic, compression {how}"
                ways[name] = alone(lambda folder, how=how: by_restic(trees, folder, how))
        found = interleaved(ways, asked.rounds)
    print_row(HEAD, WIDTHS)
    for way, results in found.items():
        last = results[-1]
        sizes = [last.stored_b, last.allocated_b]
        texts = [text for b in sizes for text in (f"{b / 1e6:.1f}", f"{last.given_b / b:.2f}")]
        rate = Spread.of(one.rate_mb_s for one in results)
        print_row((way, f"{last.given_b / 1e6:.1f}", *texts, f"{rate:.0f}"), WIDTHS)
    for way in (POOL, ENCRYPTED):
        last = found[way][-1]
        rate = Spread.of(one.rate_mb_s for one in found[way])
        ratio_x = last.given_b / last.stored_b
        print(
            f"{way}: at least {RATIO_TARGET_X:g} times smaller: {met(ratio_x >= RATIO_TARGET_X)}; "
            f"at least {RATE_TARGET_MB_S:g} MB per CPU-second: "
            f"{met(rate.median >= RATE_TARGET_MB_S)}"
        )


if __name__ == "__main__":
    command.run(main)
