"""Drivers of other packages: the example of CONTRIBUTING.md, and packages that are broken."""

import re
import subprocess
import sys
import time
import tomllib
from textwrap import dedent

import numpy as np
import pytest

from fsgreen import cli, paths
from fsgreen.errors import FsgreenError
from fsgreen.meters import Capture, open_meters
from fsgreen.meters.core import registry
from tests.patience import wait_for


@pytest.fixture
def install(tmp_path, monkeypatch):
    """A function that installs a package of one module with entry points, for one test."""
    modules = []

    def forget():
        registry._entries.cache_clear()
        registry.load.cache_clear()

    def package(name, module, source, points):
        site = tmp_path / name
        about = site / f"{module}-1.0.dist-info"
        about.mkdir(parents=True)
        (site / f"{module}.py").write_text(source)
        modules.append(module)
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = [f"{key} = {value}" for key, value in points.items()]
        (about / "entry_points.txt").write_text("\n".join(["[fsgreen.meters]", *lines, ""]))
        monkeypatch.syspath_prepend(str(site))
        forget()

    yield package
    monkeypatch.undo()
    for module in modules:
        sys.modules.pop(module, None)
    forget()


def example(language):
    """The blocks of one language below `Adding a meter` in CONTRIBUTING.md."""
    text = (paths.root() / "CONTRIBUTING.md").read_text()
    section = text.partition("## Adding a meter")[2]
    return re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)


def test_driver_of_ones_own_is_installed_and_measures(install, tmp_path, capsys):
    """Whoever follows CONTRIBUTING.md has a meter: listed, configured, captured, parsed again."""
    (source,), (points, table) = example("python"), example("toml")
    group = tomllib.loads(points)["project"]["entry-points"]["fsgreen.meters"]
    install("fsgreen-battery", "fsgreen_battery", source, group)
    power = tmp_path / "power_now"
    power.write_text("12500000\n")
    (entry,) = tomllib.loads(table)["meter"]
    with pytest.raises(FsgreenError, match=r"rnage_w, did you mean range_w\? Known: bou"):
        open_meters([entry | {"rnage_w": 5}], lambda: None)
    assert cli.main(["meters", "battery"]) == 0
    assert "gain_error  a number from 0 below 1, required. Error as" in capsys.readouterr().out
    meters = open_meters([entry | {"file": str(power), "rate_hz": 20}], lambda: None)
    with Capture(meters, tmp_path / "power.raw") as capture:
        wait_for(lambda: capture.latest_w("laptop") == 12.5)
        power.write_text("not known\n")
        blank_s = time.monotonic()
        wait_for(lambda: np.isnan(capture.since("laptop", blank_s).power_w).any())
    readings, _ = capture.finish()
    assert set(readings["quality"]) == {"ok", "missing"}
    assert readings.loc[readings["quality"] == "ok", "power_w"].eq(12.5).all()


BROKEN = {
    "no such module": ("", "elsewhere:DRIVER", "cannot be imported: ModuleNotFoundError"),
    "an error": ("1 / 0", "fsgreen_broken:DRIVER", "cannot be imported: ZeroDivisionError"),
    "no name": ("", "fsgreen_broken:DRIVER", "cannot be imported: AttributeError"),
    "another thing": ("DRIVER = 5", "fsgreen_broken:DRIVER", "is no Driver or Importer"),
    "another's name": (
        "from fsgreen.meters.rapl import DRIVER",
        "fsgreen_broken:DRIVER",
        "calls itself rapl",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_package_is_named_and_breaks_no_other_driver(install, capsys, case):
    source, target, message = BROKEN[case]
    install("fsgreen-broken", "fsgreen_broken", source, {"broken": target})
    with pytest.raises(FsgreenError, match=f"package fsgreen-broken {message}") as caught:
        open_meters([{"name": "a", "driver": "broken"}], lambda: None)
    assert "pip uninstall fsgreen-broken" in caught.value.next_step
    (meter,) = open_meters(
        [{"name": "a", "driver": "wattsup", "emulate": True}], lambda: None
    ).values()
    meter.close()
    assert cli.main(["meters"]) == 0
    shown = capsys.readouterr().out
    assert "fsgreen-broken" in shown
    assert "\nrapl " in shown


def test_two_packages_with_one_name_are_both_named(install):
    """Which of them would measure must not depend on the order of a path."""
    source = "from fsgreen.meters.rapl import DRIVER"
    install("fsgreen-other", "fsgreen_other", source, {"rapl": "fsgreen_other:DRIVER"})
    with pytest.raises(FsgreenError, match="packages fsgreen and fsgreen-other both"):
        registry.load("rapl")
    assert registry.load("wattsup").name == "wattsup"


def test_environment_that_is_older_than_the_drivers_is_told(monkeypatch):
    registry._entries.cache_clear()
    monkeypatch.setattr(registry, "entry_points", lambda group: [])
    with pytest.raises(FsgreenError, match="made before drivers were declared") as caught:
        registry._entries()
    assert "./run" in caught.value.next_step


def test_nothing_is_imported_that_is_not_asked_for():
    """A driver that cannot be imported here, or is slow to, costs only its users."""
    code = """
        import sys, fsgreen.meters
        from fsgreen.meters.core import registry
        names = registry.names()
        registry.load("rapl")
        drivers = {entry.module for several in registry._entries().values() for entry in several}
        loaded = sorted(drivers & sys.modules.keys())
        print(len(names), *loaded)
    """
    ran = subprocess.run([sys.executable, "-c", dedent(code)], capture_output=True, text=True)
    count, *loaded = ran.stdout.split()
    assert int(count) >= 18
    assert loaded == ["fsgreen.meters.rapl"]
