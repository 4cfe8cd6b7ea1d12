"""The metric of CONTRIBUTING.md, declared in a study and built in, is computed and compared."""

import re

import pytest
import synthetic
import yaml

from fsgreen import paths
from fsgreen.analysis.cells import cells_table
from fsgreen.analysis.comparisons import pairs_of
from fsgreen.analysis.effects import effects_table
from fsgreen.analysis.scatter import TREATMENTS
from fsgreen.design import Comparison, metrics, read_study
from fsgreen.design.metrics import Metric

TEXT = (paths.root() / "CONTRIBUTING.md").read_text()
DECLARED, BUILT_IN = re.search(
    r"## Adding a metric\n.*?```yaml\n(.*?)```.*?```python\n(.*?)```", TEXT, re.S
).groups()


@pytest.fixture
def known(monkeypatch):
    """What is known before, so that a declaration of this test ends with it."""
    monkeypatch.setattr(
        metrics._known, "_declared", {metric.name: metric for metric in metrics.BUILT_IN}
    )


@pytest.fixture
def study(known, tmp_path):
    """A study that declares the metric of the example."""
    plain = yaml.safe_load(paths.study("fast10").read_text())
    file = tmp_path / "own.yaml"
    file.write_text(yaml.safe_dump({**plain, **yaml.safe_load(DECLARED)}))
    return read_study(file)


def test_a_study_compares_its_cells_in_the_metric_that_it_declares(study):
    """Work over the energy above idle, total over total, of both cells of a comparison."""
    assert study.metrics == ("throughput", "net_efficiency")
    trials = synthetic.trials_frame(synthetic.cells(["webserver"], ["ext3", "xfs"]))
    chosen = [metrics.get(name) for name in study.metrics]
    cells = cells_table(trials, synthetic.BOUNDS, chosen).set_index("file_system")
    totals = trials.groupby("file_system")[["work_ops", "energy_above_idle_j"]].sum()
    expected = totals["work_ops"] / totals["energy_above_idle_j"]
    assert dict(cells["net_efficiency_ops_j"]) == pytest.approx(dict(expected))
    pairs = pairs_of(trials, [Comparison("file_system")], TREATMENTS)
    effects = effects_table(trials, pairs, synthetic.BOUNDS, compared_by=chosen)
    row = effects.set_index("metric").loc["net_efficiency"]
    assert row["ratio_x"] == pytest.approx(expected["ext3"] / expected["xfs"])


def test_built_in_it_is_the_same_metric(known, study):
    """A study that declares it by itself goes on unchanged."""
    built_in = eval(BUILT_IN, {"Metric": Metric})
    assert built_in == metrics.get("net_efficiency")
    metrics.declare([built_in])
