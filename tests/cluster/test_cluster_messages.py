"""A trial that is sent, and where: what comes is what was measured, and garbage is refused."""

import asyncio
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import dask
import pandas as pd
import pytest
import synthetic
from hypothesis import given as generated
from hypothesis import strategies as st

from fsgreen import cli, pipeline
from fsgreen.cluster import Borrowed, at, lending, reduction
from fsgreen.cluster.reduction import Given, Made
from fsgreen.errors import FsgreenError
from fsgreen.fleet import certificates, membership
from fsgreen.reduce.parts import WithAttached, reduced
from fsgreen.trace import unknown_energy
from fsgreen.trial import list_trials
from tests.meters.asked import free_port

PLAN = replace(synthetic.make_plan(), trials=())


@pytest.fixture
def trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WithAttached:
    """A trial with a meter that was attached later and says nothing of it."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    first = list_trials(synthetic.write_raw("small", synthetic.make_plan()))[0]
    info = first.record.meters["disk"]
    return first, {"late": unknown_energy("late", info, 10.0)}


def sent(trial: WithAttached) -> Given:
    return reduction.given(reduction.plan_text(PLAN), trial)


def test_what_comes_back_is_what_would_be_made_here(trial: WithAttached) -> None:
    """To the last bit, and with what is not known."""
    here, there = reduced(PLAN, trial), reduction.part(reduction.made(sent(trial)))
    rows = (pd.DataFrame([here.row]), pd.DataFrame([there.row]))
    pd.testing.assert_frame_equal(*rows, check_exact=True)
    assert (list(here.row), here.cell) == (list(there.row), there.cell)
    assert rows[0]["energy_late_j"].isna().all()
    for table in ("series", "latency", "finishes", "power_over_time"):
        pd.testing.assert_frame_equal(getattr(here, table), getattr(there, table), check_exact=True)


def test_a_file_that_came_damaged_is_not_reduced(trial: WithAttached) -> None:
    given = sent(trial)
    data = given.files["ops.parquet"]
    files = {**given.files, "ops.parquet": data[:-1] + bytes([data[-1] ^ 1])}
    with pytest.raises(FsgreenError, match=r"ops\.parquet is not the file that was recorded"):
        reduction.made(given.model_copy(update={"files": files}))


@generated(st.text(), st.text(), st.dictionaries(st.sampled_from(["trial.json"]), st.binary()))
def test_garbage_for_a_trial_is_refused(plan: str, attached: str, files: dict[str, bytes]) -> None:
    with pytest.raises(FsgreenError):
        reduction.made(Given(plan=plan, attached=attached, trial="t", files=files))


@generated(st.sampled_from(["{}", "[]", "{", "[" * 100_000]), st.binary())
def test_garbage_for_what_came_of_a_trial_is_refused(text: str, table: bytes) -> None:
    with pytest.raises(FsgreenError):
        names = ("series", "latency", "finishes", "power_over_time")
        reduction.part(Made(row=text, cell=text, **dict.fromkeys(names, table)))


@pytest.mark.parametrize("text", ["{}", "[]", '{"hash": 1}', "null"])
def test_garbage_for_a_plan_is_refused(trial: WithAttached, text: str) -> None:
    with pytest.raises(FsgreenError):
        reduction.made(sent(trial).model_copy(update={"plan": text}))


@pytest.mark.parametrize("name", ["../t", "/t", "", "."])
def test_a_file_is_written_nowhere_else(name: str) -> None:
    answer = perform("reduce", {"plan": "", "attached": "{}", "trial": "t", "files": {name: b""}})
    assert "sent no Given" in str(answer["refused"])


@pytest.mark.parametrize("task", ["run", "", None, 7, "_made", "perform"])
def test_a_task_that_is_not_ours_is_refused(task: object) -> None:
    assert "unknown task" in str(perform(task, {})["refused"])


def perform(task: object, arguments: object) -> dict[str, object]:
    """What a core that is lent answers; nothing is computed."""
    return asyncio.run(lending.Tasks(lambda: None).perform(task, arguments))  # type: ignore


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("here", "is no address"),
        ("localhost", "is no address"),
        ("192.0.2.7:8787", "nobody would ask them who they are"),
        ("0.0.0.0:8787", "nobody would ask them who they are"),
        ("example.org:8787", "nobody would ask them who they are"),
    ],
)
def test_a_place_that_others_reach_takes_certificates(address: str, said: str) -> None:
    """Whoever reaches it could read the traces, and make up results."""
    with pytest.raises(FsgreenError, match=said) as told:
        at(address, None)
    assert told.value.next_step


def test_a_place_with_certificates_may_be_anywhere(tmp_path: Path) -> None:
    certificates.make(tmp_path / "certificates")
    assert at("192.0.2.7:8787", tmp_path / "certificates").port == 8787
    with pytest.raises(FsgreenError, match="no such file"):
        at("192.0.2.7:8787", tmp_path / "none")


def test_lending_where_nobody_analyses_says_so() -> None:
    """It would wait without a word."""
    place = at(f"localhost:{free_port()}", None)
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "0.1s"}),
        pytest.raises(FsgreenError, match="nobody analyses at") as told,
    ):
        asyncio.run(lending.lend(place, 1))
    assert f"fsgreen reproduce --cluster {place.home}" in str(told.value.next_step)


def test_an_analysis_does_not_wait_for_a_place_that_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would wait for ever for the word that somebody listens there."""

    def fail() -> None:
        raise ValueError("a setting of Dask that is none")

    monkeypatch.setattr(membership, "begin", fail)
    place = Borrowed(at(f"localhost:{free_port()}", None))
    with pytest.raises(ValueError, match="that is none"), place.gathering():
        pass


def test_nothing_of_dask_is_imported_without_a_cluster() -> None:
    """It is an extra, and takes a second to import."""
    code = "import json, sys, fsgreen.pipeline.reproduction; print(json.dumps([*sys.modules]))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert not {"distributed", "dask", "fsgreen.cluster"} & {*json.loads(loaded.stdout)}


def test_the_command_says_how_many_cores_and_where_others_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(pipeline, "reproduce", lambda *given, **named: asked.append(named))
    assert cli.main(["reproduce", "--jobs", "3", "--cluster", "localhost:8787"]) == 0
    assert asked == [{"jobs": 3, "cluster": Borrowed(at("localhost:8787", None))}]
    assert cli.main(["reproduce", "--cluster", "192.0.2.7:8787"]) == 1
    assert "fsgreen fleet certificates" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        cli.main(["reproduce", "--jobs", "0"])
    with pytest.raises(SystemExit):
        cli.main(["reproduce", "--jobs", "all"])
    assert "'all' is not a number above 0" in capsys.readouterr().err


def test_a_stage_finds_the_certificates_from_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Notebooks run in theirs, and the command was typed in the checkout."""
    certificates.make(tmp_path / "certificates")
    monkeypatch.chdir(tmp_path)
    assert at("localhost:8787", Path("certificates")).certificates == tmp_path / "certificates"
