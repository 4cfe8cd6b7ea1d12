"""The explorer without a browser: what it shows is what the tables hold, and its lines make it."""

import json
import math
import shutil
from threading import Event, Thread

import numpy as np
import pandas as pd
import pytest

from fsgreen import paths, reduce, scratch
from fsgreen.analysis import standard
from fsgreen.view.explore import ClaimExplorer, Explorer, here
from fsgreen.view.explore.chart import to_json
from tests.patience import LIMIT_S
from tests.view import composed, explored

VIEWS = ("cells", "trials", "trial", "effect", "beside", "latencies", "settings")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Two campaigns of one study, the second a little one that nobody has judged."""
    folder = tmp_path_factory.mktemp("data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FSGREEN_DATA", str(folder))
        explored.measure("small")
        explored.judge("small")
        explored.measure("again", ("varmail",), ("ext4", "xfs"), blocks=2)
        yield folder


@pytest.fixture
def explorer(data):
    return Explorer("small")


def names_of(view):
    return [row["name"] for row in to_json(view.shown.chart)["rows"]]


def choose(explorer, label):
    """Choose a cell as a click on its bar does."""
    explorer.cells.chart.hear({"chose": names_of(explorer.cells).index(label)})


def test_the_best_cell_stands_first_with_the_value_of_the_table(explorer):
    assert explorer.choose.workload.value == "varmail"
    assert names_of(explorer.cells) == ["ext4", "xfs", "ext2"]
    cells = reduce.read_table("small", "cells")
    ext4 = cells[(cells["workload"] == "varmail") & (cells["file_system"] == "ext4")].iloc[0]
    first = explorer.cells.shown.table.iloc[0]
    assert first["throughput_ops_s"] == ext4["throughput_ops_s"] == pytest.approx(200, rel=0.02)
    assert first["throughput_low_ops_s"] == ext4["throughput_low_ops_s"] < 200
    assert "Most operations per second: ext4, 200 ops/s" in explorer.cells.says.value
    assert explorer.cells.shown.chart.axis == "operations per second, 95 % intervals"
    explorer.choose.by.value = next(m for _, m in explorer.choose.by.options if m.name == "power")
    assert names_of(explorer.cells) == ["ext2", "xfs", "ext4"], "of watts the least comes first"
    assert explorer.cells.shown.chart.mark == "modelled power"
    assert "modelled, not measured" in explorer.cells.says.value


def test_of_two_cells_the_second_is_told_once(data):
    """Told again as the last of two, it made one look for a third."""
    says = Explorer("again").cells.says.value
    assert "Next is xfs with 50" in says and says.count("xfs") == 1
    assert "last of 3 is ext2" in Explorer("small").cells.says.value


def test_two_blocks_promise_no_interval(data):
    """Lines as long as the chart lay on its bars, under the name of 95 % intervals."""
    explorer = Explorer("again")
    for _, measure in explorer.choose.by.options:
        explorer.choose.by.value = measure
        chart = explorer.cells.shown.chart
        assert chart.axis.endswith(", no interval: 2 trials")
        assert all(math.isnan(end) for row in chart.rows for end in (row.low, row.high))
    for view in (explorer.effect, explorer.beside):
        assert "ratio, no interval: 2 blocks" in view.shown.chart.axis
        assert not any("?" in row.about or "[" in row.says for row in view.shown.chart.rows)


def test_what_has_no_interval_in_the_cells_is_not_offered():
    """A metric of another study had a mean there, and nothing else: every view was empty."""
    offered = here.measures(["power_w", "power_low_w", "power_high_w", "throughput_ops_s"])
    assert [measure.name for measure in offered] == ["power"]


def test_looking_at_claims_says_nothing_of_where_a_notebook_writes(data, monkeypatch, capsys):
    """Nine campaigns told where to write, in a notebook that changes nothing."""
    monkeypatch.setattr(scratch, "in_a_kernel", lambda: True)
    monkeypatch.setattr(paths, "ships", lambda name: True)
    monkeypatch.setattr(paths, "_overwrites", lambda: False)
    scratch.copied.cache_clear()
    assert "small" in ClaimExplorer("fast10").card.value
    assert capsys.readouterr().out == ""
    scratch.copied.cache_clear()
    shutil.rmtree(data / "scratch")


def test_latencies_have_the_interval_of_their_geometric_mean(explorer):
    by = explorer.choose.by
    by.value = next(m for _, m in by.options if m.name == "latency_p99")
    trials = reduce.read_table("small", "trials")
    of_cell = trials[(trials["workload"] == "varmail") & (trials["file_system"] == "xfs")]
    logs = np.log(of_cell["latency_p99_s"])
    table = explorer.cells.shown.table.set_index("file_system")
    assert table.loc["xfs", "latency_p99_s"] == pytest.approx(np.exp(logs.mean()))
    assert table.loc["xfs", "latency_p99_low_s"] <= table.loc["xfs", "latency_p99_s"]


def test_every_view_is_made_by_the_lines_that_it_shows(explorer):
    """Lines that a person pastes into a cell must give what stood on the screen."""
    for measure in [value for _, value in explorer.choose.by.options]:
        explorer.choose.by.value = measure
        for name in VIEWS[:2]:
            shown = getattr(explorer, name).shown
            pd.testing.assert_frame_equal(explored.run(shown.lines.text), shown.table)
    for name in VIEWS[2:]:
        shown = getattr(explorer, name).shown
        pd.testing.assert_frame_equal(explored.run(shown.lines.text), shown.table)


def test_from_a_bar_to_its_trials_to_the_traces_of_one(explorer):
    choose(explorer, "xfs")
    assert explorer.a.value.name == "xfs" and explorer.cells.chart.chosen[0] == 1
    trials = explorer.trials.shown.table
    assert len(trials) == explored.BLOCKS and all("xfs" in name for name in trials["trial"])
    explorer.trials.chart.hear({"chose": 3})
    assert trials["trial"][3] in explorer.trial.says.value
    trace = explorer.trial.shown.table
    during = trace[trace["since_s"].between(0.5, 9.5)]
    assert during["work_ops_s"].dropna().unique() == pytest.approx([explored.OPS["xfs"]], rel=0.02)
    assert during["cpu_system_percent"].dropna().unique() == pytest.approx([25.0])
    names = [name for name, *_ in explorer.trial.shown.chart.phases]
    assert names == ["prepare", "idle", "warmup", "measure", "flush", "idle"]


def test_what_is_chosen_while_a_view_is_made_is_shown_after_it(explorer, monkeypatch):
    """In JupyterLab another thread took the second press, and no further press did anything."""
    began, goes_on, show = Event(), Event(), explorer.effect.show

    def show_late(make):
        began.set()
        assert goes_on.wait(LIMIT_S)
        return show(make)

    monkeypatch.setattr(explorer.effect, "show", show_late)
    first, second = (
        Thread(target=explorer.cells.chart.hear, args=({"chose": nth},)) for nth in (1, 0)
    )
    first.start()
    assert began.wait(LIMIT_S)
    second.start()
    second.join(0.5)
    goes_on.set()
    first.join()
    second.join()
    assert explorer.cells.chart.chosen == [0, 1]
    assert "trials of ext4" in explorer.trials.says.value
    assert explorer.effect.says.value.count("ext4 does 2 [") == 1
    settings = explorer.settings.shown.table.set_index("what")
    assert settings.loc["cell.file_system"].tolist() == ["ext4", "xfs"]


def test_levels_that_are_not_chosen_are_not_shown(explorer):
    (file_systems,) = explorer.choose.levels.children
    file_systems.value = ["xfs", "ext2"]
    assert names_of(explorer.cells) == ["xfs", "ext2"]
    file_systems.value = []
    assert "No cell that was asked for" in explorer.cells.says.value
    for name in VIEWS[1:]:
        assert getattr(explorer, name).shown is None, "what stood there before is not of now"


def test_two_cells_as_the_study_compares_them(explorer):
    choose(explorer, "ext4")
    explorer.cells.chart.hear({"chose": 1, "second": True})
    effects = reduce.read_table("small", "effects")
    row = effects[
        (effects["workload"] == "varmail")
        & (effects["metric"] == "throughput")
        & effects["file_system"].isin(["ext4", "xfs"])
        & effects["baseline_file_system"].isin(["ext4", "xfs"])
    ].iloc[0]
    shown = explorer.effect.shown.table.set_index("metric")
    assert shown.loc["throughput", "ratio_x"] == row["ratio_x"]
    assert (
        "ext4 does 2 [" in explorer.effect.says.value
        and "the two differ" in explorer.effect.says.value
    )
    checks = explorer.checks.value
    assert "Is there a difference?</th><td><b>yes" in checks
    assert "Is it less than 5 %?</th><td><b>no" in checks
    assert "Was it the same machine throughout?</th><td><b>yes" in checks
    assert "Were watts measured?</th><td><b>no" in checks
    beside = explorer.beside.shown.table.set_index("quantity")
    assert beside.loc["throughput_ops_s", "ratio_x"] == pytest.approx(2, rel=0.02)
    assert beside.loc["energy_per_op_j", "ratio_x"] == pytest.approx(0.52, rel=0.03)
    settings = explorer.settings.shown.table.set_index("what")
    assert settings.loc["cell.file_system"].tolist() == ["ext4", "xfs"]
    assert "No operation" in explorer.latencies.says.value, "all latencies are the same"


def test_two_campaigns_are_compared_with_a_warning(explorer):
    explorer.choose.campaigns.value = ["again", "small"]
    assert set(names_of(explorer.cells)) >= {"small: ext4", "again: ext4"}
    choose(explorer, "small: ext4")
    names = names_of(explorer.cells)
    explorer.cells.chart.hear({"chose": names.index("again: ext4"), "second": True})
    assert "different campaigns" in explorer.effect.says.value
    assert "May something else have made it?</th><td><b>unknown" in explorer.checks.value
    for name in VIEWS[3:]:
        shown = getattr(explorer, name).shown
        pd.testing.assert_frame_equal(explored.run(shown.lines.text), shown.table)


def test_a_cell_is_not_compared_with_itself(explorer):
    explorer.b.index = explorer.a.index
    assert "A and B are the same cell" in explorer.effect.says.value
    assert explorer.checks.value == ""


def test_of_a_single_cell_nobody_is_sent_for_another_one(explorer):
    """Four views said "choose another one above", and there was none."""
    (file_systems,) = explorer.choose.levels.children
    file_systems.value = ["xfs"]
    assert "trials of xfs" in explorer.trials.says.value, "B was left, and no cell was chosen"
    assert "there is only one cell" in explorer.effect.says.value
    assert "choose another workload" in explorer.effect.says.value


def test_figure_and_data_are_saved(explorer, data):
    explorer.cells.keep.click()
    folder = data / "scratch" / "explore"
    saved = reduce.read_csv(folder / "cells-varmail-throughput.csv")
    assert saved["file_system"].tolist() == ["ext4", "xfs", "ext2"]
    assert saved["throughput_ops_s"].tolist() == pytest.approx(
        explorer.cells.shown.table["throughput_ops_s"].tolist()
    )
    png = (folder / "cells-varmail-throughput.png").read_bytes()
    assert png.startswith(b"\x89PNG")
    assert "cells-varmail-throughput.png" in explorer.cells.kept.value
    for name in VIEWS:
        assert all(file.stat().st_size for file in getattr(explorer, name).save()), name


def test_lines_and_table_appear_when_they_are_asked_for(explorer):
    assert explorer.cells.more.value == ""
    explorer.cells.lines.value = True
    assert "fsgreen.open(name).cells" in explorer.cells.more.value
    explorer.cells.table.value = True
    assert "<td>ext4</td>" in explorer.cells.more.value


def test_nonsense_from_a_browser_changes_nothing(explorer):
    before = explorer.a.value
    for said in ({}, *({"chose": nth} for nth in (99, -1, "0", True, None))):
        explorer.cells.chart.hear(said)
        explorer.trials.chart.hear(said)
        assert explorer.a.value is before, said


@pytest.fixture
def half(tmp_path, data, monkeypatch):
    """One's own copy of a campaign, to take something away from."""
    shutil.copytree(data, tmp_path / "data")
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path / "data"))
    return paths.results("small")


def test_power_that_is_not_steady_is_not_told_as_work_that_is_not(half):
    """ "no steady state" stood beside "both steady: yes": one was of power, the other of work."""
    states = {"varmail": ("no steady state", "no"), "webserver": ("too short", "unknown")}
    trials = pd.read_csv(half / "trials.csv", dtype=str, keep_default_na=False)
    for workload, (state, _) in states.items():
        chosen = (trials["workload"] == workload) & (trials["file_system"] == "ext4")
        trials.loc[chosen, "steady_power"] = state
    trials.to_csv(half / "trials.csv", index=False)
    standard.write("small")
    explorer = Explorer("small")
    for workload, (state, answer) in states.items():
        explorer.choose.workload.value = workload
        choose(explorer, "ext4")
        explorer.cells.chart.hear({"chose": 1, "second": True})
        said = {row["name"]: row["says"] for row in to_json(explorer.effect.shown.chart)["rows"]}
        assert said["throughput"].endswith("] different")
        unsteady = state == "no steady state"
        assert said["efficiency"].endswith("] not steady" if unsteady else "] different")
        checks = explorer.checks.value
        assert "Did both work steadily while measured?</th><td><b>yes" in checks
        assert f"Was the power of both steady, too?</th><td><b>{answer}" in checks
        assert "ext4: 0 of 5 trials, xfs: 5 of 5 trials" in checks


def test_without_cells_they_are_made_from_the_trials(half):
    (half / "cells.csv").unlink()
    (half / "effects.csv").unlink()
    explorer = Explorer("small")
    assert names_of(explorer.cells) == ["ext4", "xfs", "ext2"]
    assert "the table effects" in explorer.effect.says.value
    assert "next:" in explorer.effect.says.value
    assert explorer.beside.shown is not None, "what does not need the missing table is shown"
    pd.testing.assert_frame_equal(
        explored.run(explorer.cells.shown.lines.text), explorer.cells.shown.table
    )


def test_without_any_table_it_says_what_to_do(half):
    shutil.rmtree(half)
    explorer = Explorer("small")
    assert "the table trials of the campaign" in explorer.cells.says.value
    assert "next:" in explorer.cells.says.value
    explorer.choose.campaigns.value = ["again"]
    assert names_of(explorer.cells) == ["ext4", "xfs"]


def test_newer_results_are_read_again(half):
    explorer = Explorer("small")
    table = pd.read_csv(half / "cells.csv")
    table["throughput_ops_s"] *= 3
    table.to_csv(half / "cells.csv", index=False)
    explorer.redraw()
    assert explorer.cells.shown.table["throughput_ops_s"].max() == pytest.approx(600, rel=0.02)


def test_a_damaged_campaign_is_named_and_the_others_are_shown(half):
    (paths.raw("again") / "plan.json").write_text("{")
    explorer = Explorer("small")
    assert explorer.choose.campaigns.options == ("small",)
    assert "again is left out" in explorer.choose.children[-1].value


def test_without_campaigns_nothing_breaks(tmp_path, monkeypatch):
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    explorer = Explorer()
    assert "there is no campaign here" in explorer.cells.says.value
    claims = ClaimExplorer()
    assert "no campaign of fast10 has been judged here" in claims.all.says.value
    assert len(claims.claim.options) == 99 and "As published" in claims.card.value


def test_of_a_study_without_claims_no_empty_control_is_shown(project):
    """It said "0 claims. ." above a table without rows."""
    composed.tiny(project, "tiny", measure_s=1)
    shutil.copy(paths.code() / "studies" / "fast10.yaml", project / "studies")
    claims = ClaimExplorer("tiny")
    assert claims.study.value == "tiny"
    assert "the study tiny states no claim" in claims.all.says.value
    assert claims.claim.layout.display == claims.one.layout.display == "none"
    claims.study.value = "fast10"
    assert claims.claim.layout.display is None


def test_a_claim_is_shown_as_published_with_what_each_campaign_found(data):
    claims = ClaimExplorer("fast10")
    assert len(claims.claim.options) == 99
    claims.claim.value = "disk_idle_power"
    assert "The external test disk draws 7 W when idle" in claims.card.value
    assert "section 4" in claims.card.value
    assert "<th>small</th>" in claims.card.value and "It would take:" in claims.card.value
    pd.testing.assert_frame_equal(explored.run(claims.all.shown.lines.text), claims.all.shown.table)
    told = reduce.read_csv(paths.told("fast10", "small", shipped=False))
    slug = told.loc[told["ours_low_x"].notna(), "slug"].iloc[0]
    claims.claim.value = slug
    assert set(claims.one.shown.table["campaign"]) == {"small"}
    pd.testing.assert_frame_equal(explored.run(claims.one.shown.lines.text), claims.one.shown.table)
    verdict = claims.all.shown.table["verdict"].iloc[0]
    claims.verdict.value = verdict
    assert 0 < len(claims.claim.options) <= 99
    assert all(name.startswith(verdict) for name, _ in claims.claim.options)
    assert claims.all.shown.table.columns[0] == "verdict", "beside long statements nobody sees it"


def test_what_the_browser_gets_is_json(explorer):
    for name in VIEWS[:-1]:
        text = json.dumps(getattr(explorer, name).chart.chart, allow_nan=False)
        assert "NaN" not in text
