"""Testbeds behind networks of their own, one of which is cut and comes back."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator

import pytest

from fsgreen import reduce
from tests.fleet.conftest import Yard, check_whole, wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        "FSGREEN_NIGHTLY" not in os.environ,
        reason="waits for a line that is cut: FSGREEN_NIGHTLY=1 ./run test tests/fleet",
    ),
    pytest.mark.skipif(
        os.geteuid() != 0 or shutil.which("ip") is None,
        reason="makes network namespaces: run as root, with iproute2",
    ),
]

HOME = "10.231.1.1"
"""The end of the first line at home, which the other network reaches through its own."""


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


@pytest.fixture
def lines() -> Iterator[dict[str, str]]:
    """Give two networks by name of a testbed, each with a line to this one; they are removed."""
    made = {name: f"fsg{os.getpid()}{name}"[-12:] for name in ("one", "two")}
    try:
        for nth, network in enumerate(made.values(), start=1):
            ip("netns", "add", network)
            peer = ("type", "veth", "peer", "name", "home", "netns", network)
            ip("link", "add", f"{network}h", *peer)
            ip("address", "add", f"10.231.{nth}.1/24", "dev", f"{network}h")
            ip("link", "set", f"{network}h", "up")
            ip("-n", network, "address", "add", f"10.231.{nth}.2/24", "dev", "home")
            for device in ("lo", "home"):
                ip("-n", network, "link", "set", device, "up")
            ip("-n", network, "route", "add", "default", "via", f"10.231.{nth}.1")
        yield made
    finally:
        for network in made.values():  # with the line that ends in it
            subprocess.run(["ip", "netns", "del", network], check=False)


def test_a_line_that_is_cut_costs_time_and_no_trial(
    yard: Callable[..., Yard], lines: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is reduced at home is what would be on the testbed's machine, to the byte."""
    made = yard("one", "two")
    file = made.folder / "fleet.toml"
    file.write_text(file.read_text().replace("localhost:", f"{HOME}:"))
    for name, network in lines.items():
        made.within[name] = ("ip", "netns", "exec", network)
        made.worker(name)
    home = made.home()
    wait_until(made, lambda: bool(made.there("two")))
    ip("link", "set", f"{lines['two']}h", "down")
    wait_until(made, lambda: "two: lost: " in made.said("home"))
    ip("link", "set", f"{lines['two']}h", "up")
    ip("-n", lines["two"], "route", "replace", "default", "via", "10.231.2.1")
    wait_until(made, lambda: home.poll() is not None)
    assert home.returncode == 0, made.said("home")
    check_whole(made, monkeypatch)
    for name in made.testbeds:
        tables = []
        for data in (made.folder / "data", made.folder / "data" / "fleet" / name):
            monkeypatch.setenv("FSGREEN_DATA", str(data))
            folder = reduce.write(f"asleep-quick.{name}")
            tables.append({each.name: each.read_bytes() for each in folder.iterdir()})
        assert tables[0] == tables[1]
