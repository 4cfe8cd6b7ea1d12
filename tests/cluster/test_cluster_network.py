"""A campaign reduced by two machines of a network, each a network namespace: the same bytes."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import synthetic

from fsgreen import paths, reduce
from fsgreen.executors import Processes, entered
from fsgreen.fleet import certificates

HOME = "192.0.2.1"
LENDERS = {"one": "192.0.2.2", "two": "192.0.2.3"}
ADDRESS = f"{HOME}:8787"
TABLES = ("trials", "series", "latency", "finishes", "power_over_time")

REDUCE = """
import sys
from pathlib import Path
from fsgreen import reduce
from fsgreen.cluster import Borrowed, at, borrowed
from fsgreen.executors import entered
borrowed.reduced = None  # home does none of it
cluster = Borrowed(at(sys.argv[1], Path(sys.argv[2])))
with cluster.gathering(), entered(cluster):
    reduce.write("small")
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        "FSGREEN_NIGHTLY" not in os.environ or os.geteuid() != 0,
        reason="makes network namespaces, as root: sudo FSGREEN_NIGHTLY=1 ./run test "
        "tests/cluster/test_cluster_network.py",
    ),
    pytest.mark.skipif(paths.program("ip") is None, reason="no ip: apt-get install iproute2"),
]


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


@pytest.fixture
def network() -> Iterator[str]:
    """Namespaces with a link from home to each lender; gives what their names begin with."""
    own = f"fsgreen{os.getpid()}"
    names = [f"{own}-home", *(f"{own}-{name}" for name in LENDERS)]
    try:
        for name in names:
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
        ip("-n", names[0], "address", "add", f"{HOME}/32", "dev", "lo")
        for name, address in LENDERS.items():
            there = ("type", "veth", "peer", "name", "home", "netns", f"{own}-{name}")
            ip("-n", names[0], "link", "add", name, *there)
            for space, link, local, remote in (
                (names[0], name, HOME, address),
                (f"{own}-{name}", "home", address, HOME),
            ):
                ip("-n", space, "address", "replace", f"{local}/32", "dev", link)
                ip("-n", space, "link", "set", link, "up")
                ip("-n", space, "route", "add", f"{remote}/32", "dev", link, "src", local)
        yield own
    finally:
        for name in names:
            with contextlib.suppress(subprocess.CalledProcessError):
                ip("netns", "delete", name)


def test_two_machines_make_the_same_bytes_as_one_process(
    network: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path / "data"))
    synthetic.write_raw("small", synthetic.make_plan(blocks=10))
    files = [paths.results("small") / f"{name}.csv" for name in TABLES]
    with entered(Processes(1)):
        reduce.write("small")
    alone = [file.read_bytes() for file in files]
    for file in files:
        file.unlink()
    folder = tmp_path / "certificates"
    certificates.make(folder)

    def start(name: str, *command: str) -> subprocess.Popen[str]:
        within = ["ip", "netns", "exec", f"{network}-{name}", sys.executable, *command]
        return subprocess.Popen(within, stdout=subprocess.PIPE, text=True)

    home = start("home", "-c", REDUCE, ADDRESS, str(folder))
    lend = ("-m", "fsgreen", "lend", ADDRESS, "--jobs", "1", "--certificates", str(folder))
    lenders = [start(name, *lend) for name in LENDERS]
    try:
        home.communicate()
        assert home.returncode == 0
        assert [file.read_bytes() for file in files] == alone
        assert all(" lent to " in lender.communicate()[0] for lender in lenders)
    finally:
        for process in (home, *lenders):
            process.terminate()
            process.wait()
