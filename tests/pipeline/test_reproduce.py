"""The whole pipeline by its command: what it tells at the end, and what one claim takes."""

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fsgreen import paths
from fsgreen.errors import FsgreenError
from fsgreen.pipeline import params, reproduction
from fsgreen.pipeline.ledger import Ledger


@pytest.fixture
def current(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkout of one study with two campaigns, in which nothing is out of date."""
    ledger = nullcontext(
        SimpleNamespace(
            out_of_date=dict,
            commands=lambda campaign: {},
            of_studies=lambda: {"s": {}},
            of_all=dict,
        )
    )
    monkeypatch.setattr(paths, "root", lambda: tmp_path)
    (tmp_path / "dvc.lock").write_text("stages: {}\n")
    (tmp_path / "run").touch()
    columns = "slug,verdict,basis,scope\n"
    tables = {
        paths.ledger("s") / "claims.csv": columns + "a,reproduced,measured,\n",
        paths.results("c") / "claims.csv": columns + "a,underpowered,measured,\n",
    }
    for file, text in tables.items():
        file.parent.mkdir(parents=True)
        file.write_text(text)
    monkeypatch.setattr(
        params, "campaigns", lambda: dict.fromkeys("cd", SimpleNamespace(study="s"))
    )
    monkeypatch.setattr(params, "studies", lambda: ["s"])
    for name, stub in {
        "_opened": lambda: ledger,
        "_compare_plans": lambda campaign: None,
    }.items():
        monkeypatch.setattr(reproduction, name, stub)


@pytest.mark.usefixtures("current")
def test_a_run_with_nothing_to_do_starts_nothing_and_ends_with_ten_lines(capsys: Any) -> None:
    """A reviewer reads the answer in a minute; rules and advice are a command away."""
    reproduction.reproduce()
    first, gap, *answer = capsys.readouterr().out.splitlines()
    assert (first, gap) == ("nothing is out of date", "")
    assert len(answer) <= 10 - (5 - 1)  # with a line for each of five studies it is ten
    assert any(line.startswith("s  ") and line.split()[:3] == ["s", "1", "1"] for line in answer)
    assert answer[-2].startswith(
        "all 0 outputs (0 files) are identical to those shipped; this took"
    )
    assert "more: ./run outcome," in answer[-1]
    (paths.root() / "run").unlink()
    reproduction.reproduce()
    assert "more: fsgreen outcome," in capsys.readouterr().out, "a project has no script `run`"


@pytest.mark.usefixtures("current")
def test_one_campaign_is_told_of_by_itself(capsys: Any) -> None:
    """Its study's ledger takes all campaigns, which were not asked for."""
    reproduction.reproduce("c")
    shown = capsys.readouterr().out
    assert "report: data/results/c/report.pdf; more: ./run outcome c," in shown
    with pytest.raises(FsgreenError, match=r"unknown campaign of the pipeline 'e'"):
        reproduction.reproduce("e")


def test_a_claim_is_made_anew_from_its_traces_by_the_stages_that_it_takes() -> None:
    """Figures and reports of minutes would keep whoever asks for one claim waiting."""
    with Ledger.opened(wait=True) as ledger:
        stages = ["unpack", "reduce", "analyse", "claims"]
        behind = ledger.behind("claims@fast10-disk")
        made = ledger.outs(["claims@fast10-disk"])
    assert [*behind] == [f"{stage}@fast10-disk" for stage in stages]
    assert paths.results("fast10-disk") / "claims.csv" in made
