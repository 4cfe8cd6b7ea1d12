"""Disks in virtual time, through the engine's Python module."""

from __future__ import annotations

import json
from typing import Any

import pytest

fsgreen_engine = pytest.importorskip(
    "fsgreen_engine", reason="engine not installed: run ./run engine"
)
if not hasattr(fsgreen_engine, "simulate"):
    pytest.skip("engine of an older version: run ./run engine", allow_module_level=True)


def experiment(**changes: Any) -> str:
    """Return a small experiment as text."""
    readers = {"readers": 4, "total_mib": 16, "partition": 1}
    asked: dict[str, Any] = {"disk": "wd200bb", "work": {"readers": readers}}
    return json.dumps(asked | changes)


def test_a_simulation_says_that_it_is_one_and_is_repeatable() -> None:
    """A figure made from it must say so, and a reviewer must get the same one."""
    first = fsgreen_engine.simulate(experiment(scheduler="n-cscan"))
    assert first["basis"] == "simulated"
    assert len(first["readers"]) == 4
    assert first == fsgreen_engine.simulate(experiment(scheduler="n-cscan"))


def test_energy_is_exact_in_python_too() -> None:
    """Femtojoules are beyond a float's digits; as whole numbers nothing is lost."""
    energy = fsgreen_engine.simulate(experiment())["energy"]
    assert energy["total_fj"] == sum(part["energy_fj"] for part in energy["parts"]) > 0


def test_errors_say_what_may_stand_there() -> None:
    """A slip in an experiment must not end the interpreter."""
    with pytest.raises(ValueError, match="n-cscan"):
        fsgreen_engine.simulate(experiment(scheduler="noop"))
    with pytest.raises(ValueError, match="next:"):
        fsgreen_engine.simulate("{")


def test_a_profile_is_a_file_that_can_be_used(tmp_path: Any) -> None:
    """Who copies a profile and changes nothing must get the same disk."""
    copy = tmp_path / "mine.toml"
    copy.write_text(fsgreen_engine.profiles()["wd200bb"])
    ours, theirs = (fsgreen_engine.simulate(experiment(disk=d)) for d in (str(copy), "wd200bb"))
    assert ours["readers"] == theirs["readers"]
