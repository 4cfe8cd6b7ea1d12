"""Metrics are data: a study may compare its cells in numbers of its own."""

import pytest
import synthetic
import yaml

from fsgreen import paths
from fsgreen.analysis.cells import cells_table
from fsgreen.analysis.effects import effects_table
from fsgreen.design import metrics, read_study
from fsgreen.design.metrics import Metric
from fsgreen.errors import FsgreenError
from fsgreen.units import check_columns

MOVED = Metric("moved_per_joule", "bandwidth_b_s * duration_s", "energy_j", "b")
PAIR = [
    ("file system", "webserver", cell.only(["file_system", "option"]), other)
    for cell, other in [
        (
            synthetic.cells(["webserver"], ["ext3"])[0],
            synthetic.cells(["webserver"], ["xfs"])[0].only(["file_system", "option"]),
        )
    ]
]


@pytest.fixture(scope="module")
def trials():
    frame = synthetic.trials_frame(synthetic.cells(["webserver"], ["ext3", "xfs"]))
    return frame.assign(bandwidth_b_s=frame["throughput_ops_s"] * 4096)


def test_a_study_compares_its_cells_in_its_own_metrics(trials):
    """Nothing of the package is edited for a further number."""
    table = effects_table(trials, PAIR, synthetic.BOUNDS, compared_by=[MOVED])
    (row,) = table.to_dict("records")
    of = trials.groupby("file_system")[["bandwidth_b_s", "duration_s", "energy_j"]]
    moved = of.apply(lambda t: (t["bandwidth_b_s"] * t["duration_s"]).sum() / t["energy_j"].sum())
    assert row["metric"] == "moved_per_joule"
    assert row["ratio_x"] == pytest.approx(moved["ext3"] / moved["xfs"])
    assert row["candidate_moved_per_joule_b"] == pytest.approx(moved["ext3"])
    cells = check_columns(cells_table(trials, synthetic.BOUNDS, [MOVED]))
    assert list(cells["moved_per_joule_b"]) == pytest.approx(list(moved))
    assert {"throughput_ops_s", "moved_per_joule_low_b"} <= set(cells)


def test_a_metric_without_a_total_below_is_a_mean(trials):
    cells = cells_table(trials, synthetic.BOUNDS, [metrics.get("duration")])
    means = trials.groupby("file_system")["duration_s"].mean()
    assert list(cells["duration_s"]) == pytest.approx(list(means))


def test_a_value_of_latency_is_the_one_whose_interval_stands_beside_it(trials):
    """The median would lie outside of the interval of the mean where one trial has a long tail."""
    slow = trials["block"] == 1
    trials = trials.assign(latency_p99_s=trials["latency_p99_s"].mask(slow, 1.0))
    cells = cells_table(trials, synthetic.BOUNDS, [metrics.get("latency_p99")])
    means = trials.groupby("file_system")["latency_p99_s"].mean()
    assert list(cells["latency_p99_s"]) == pytest.approx(list(means))
    assert (cells["latency_p99_low_s"] < cells["latency_p99_s"]).all()


def test_metrics_that_ssds_are_judged_by_are_sums_over_trials(trials):
    """Energy by delay of an operation, bytes at the device over bytes written, slow operations."""
    trials = trials.assign(device_write_percent=150.0, write_b=[1e6 * n for n in trials["block"]])
    names = ("energy_delay", "write_amplification", "latency_p99")
    cells = cells_table(trials, synthetic.BOUNDS, [metrics.get(name) for name in names])
    assert list(cells["write_amplification_percent"]) == pytest.approx([150.0] * len(cells))
    by_system = trials.groupby("file_system")
    product = (trials["energy_j"] * trials["duration_s"]).groupby(trials["file_system"]).sum()
    squares = (trials["work_ops"] ** 2).groupby(trials["file_system"]).sum()
    found = cells.set_index("file_system")
    assert dict(found["energy_delay_js"]) == pytest.approx(dict(product / squares))
    assert dict(found["latency_p99_s"]) == pytest.approx(dict(by_system["latency_p99_s"].mean()))


def test_flash_is_amplified_by_a_simulated_ssd_and_by_no_other_disk(trials):
    """A study that names the metric may be measured on both."""
    metric = [metrics.get("flash_amplification")]
    counted = {"host_written_b": [1e6 * n for n in trials["block"]]}
    on_ssd = trials.assign(flash_programmed_percent=[100.0 + n for n in trials["block"]], **counted)
    cells = cells_table(on_ssd, synthetic.BOUNDS, metric)
    blocks = trials["block"].unique()
    expected = 100 + sum(n * n for n in blocks) / sum(blocks)
    assert list(cells["flash_amplification_percent"]) == pytest.approx([expected] * len(cells))
    assert (cells["flash_amplification_low_percent"] < expected).all()
    plain = cells_table(trials, synthetic.BOUNDS, metric)
    assert plain["flash_amplification_percent"].isna().all()
    assert effects_table(trials, PAIR, synthetic.BOUNDS, compared_by=metric).empty


def test_work_per_energy_rests_on_a_meter_and_work_per_second_does_not():
    """Rule 24: the first needs steady power, too."""
    assert [metric.name for metric in metrics.BUILT_IN if metric.of_power] == [
        "efficiency",
        "energy",
        "power",
        "energy_delay",
    ]


def test_a_metric_has_one_meaning():
    with pytest.raises(FsgreenError, match="declared twice"):
        metrics.declare([Metric("throughput", "work_ops", "energy_j", "ops_j")])


@pytest.mark.parametrize(
    ("metric", "told"),
    [
        ("throughputs", "did you mean throughput"),
        ({"name": "x", "above": "work_ops", "unit": "furlong"}, "unknown unit 'furlong'"),
        ({"name": "x", "abov": "work_ops", "unit": "s"}, "did you mean above"),
    ],
)
def test_a_metric_that_cannot_be_is_refused_with_its_line(metric, told, tmp_path):
    study = yaml.safe_load(paths.study("fast10").read_text())
    file = tmp_path / "own.yaml"
    file.write_text(yaml.safe_dump({**study, "metrics": ["efficiency", metric]}))
    with pytest.raises(FsgreenError, match=told):
        read_study(file)
