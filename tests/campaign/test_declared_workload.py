"""A study with a factor and a workload of its own, from its file to its table, without any code."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fsgreen import campaign, design, reduce, testbeds, trial
from fsgreen.campaign.fitting import load_workloads
from fsgreen.errors import FsgreenError
from fsgreen.workloads import bounds

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("fio") is None, reason="fio is not installed: apt-get install fio"
    ),
]

STUDY = """
study: blocks
title: Small reads and large ones
question: Do large reads take fewer joules?
seed: 7
baseline: {workload: randread, file_system: FILE_SYSTEM, read_size_b: 4096}
constants: {zone: as found, length_mib: 4}
bounds: {others_percent: 101, idle_band_percent: 50, budget_percent: 50}
factors:
  read_size_b: {owner: workload, kind: count, label: "{}b"}
  length_mib: {owner: workload, kind: count}
workloads:
  randread:
    command: [fio, --name=randread, "--directory={directory}", "--size={length_mib}m",
              --rw=randread, "--bs={read_size_b}", "--rate_iops={load_ops_s}", "--randseed={seed}",
              --time_based, "--ramp_time={warmup_s}", "--runtime={measure_s}"]
    prepare: [fio, --name=randread, "--directory={directory}", "--size={length_mib}m",
              --rw=randread, --create_only=1]
    reader: fio
    size_mib: 4
matrices:
  all: {workload: [randread], file_system: [FILE_SYSTEM], read_size_b: [4096, 65536]}
profiles:
  quick:
    matrices: [all]
    blocks: 1
    phases: {idle_s: 0.4, warmup_s: 0.5, measure_s: 2, settle_limit_s: 30}
    image_mib: 64
"""


@pytest.mark.usefixtures("data", "patient", "quick")
def test_a_study_with_a_factor_and_a_fio_workload_of_its_own(
    bed: testbeds.Testbed, tmp_path: Path
) -> None:
    only = bed.only_file_system()
    file = tmp_path / "blocks.yaml"
    file.write_text(STUDY.replace("FILE_SYSTEM", str(only)))
    plan = design.make_plan(design.read_study(file), "quick", only=only)
    done = campaign.run(plan, "blocks", testbed=bed)
    again = campaign.Campaign("blocks").plan()
    assert (again.hash, again.workloads) == (plan.hash, plan.workloads)
    found = trial.list_trials(done.folder)
    assert len(found) == 2
    for one in found:
        assert one.record.work.engine.startswith("fio-3.")
        assert one.record.work.variables["read_size_b"] == one.record.cell["read_size_b"]
        assert one.record.work.variables["length_mib"] == 4, "a constant of the study's own is lost"
        assert one.phase("measure").duration_s > 1.5
    reduce.write("blocks")
    rows = reduce.read_table("blocks", "trials")
    assert sorted(rows["read_size_b"]) == [4096, 65536]
    assert (rows["bandwidth_b_s"] / rows["throughput_ops_s"]).tolist() == pytest.approx(
        rows["read_size_b"].tolist()
    )
    assert (rows["efficiency_ops_j"] > 0).all()
    assert (rows["latency_p99_s"] >= rows["latency_p50_s"]).all()


@pytest.mark.usefixtures("data", "patient", "quick")
def test_a_profile_bounds_the_memory_of_its_workloads_by_its_scale(
    bed: testbeds.Testbed, tmp_path: Path
) -> None:
    try:
        bounds.require(["memory"])
    except FsgreenError as error:
        pytest.skip(f"{error.what}; {error.next_step}")
    only = bed.only_file_system()
    text = STUDY.replace("FILE_SYSTEM", str(only)).replace("[4096, 65536]", "[4096]")
    text = text.replace(
        "    blocks: 1\n", "    blocks: 1\n    scale: 0.5\n    constants: {memory_mib: 100}\n"
    )
    (file := tmp_path / "blocks.yaml").write_text(text)
    plan = design.make_plan(design.read_study(file), "quick", only=only)
    [record] = [
        one.record for one in trial.list_trials(campaign.run(plan, "blocks", testbed=bed).folder)
    ]
    assert record.memory is not None
    assert record.memory.limit_b == 50 * 2**20
    assert 0 < record.memory.peak_b <= record.memory.limit_b
    reduce.write("blocks")
    [row] = reduce.read_table("blocks", "trials").to_dict("records")
    assert (row["memory_limit_b"], row["files_b"], row["memory_mib"]) == (50 * 2**20, 2**22, 100)


def test_memory_cannot_be_bounded_around_a_warm_cache(
    bed: testbeds.Testbed, tmp_path: Path
) -> None:
    text = STUDY.replace("FILE_SYSTEM", str(bed.only_file_system()))
    text = text.replace("length_mib: 4}", "length_mib: 4, cache: warm, memory_mib: 100}", 1)
    (file := tmp_path / "blocks.yaml").write_text(text)
    plan = design.make_plan(design.read_study(file), "quick", only=bed.only_file_system())
    with pytest.raises(FsgreenError, match="a cache that was warmed lies outside"):
        load_workloads(plan, bed)


def test_a_workload_that_is_declared_wrongly_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "blocks.yaml"
    file.write_text(STUDY.replace("    reader: fio\n", "    driver: fio\n"))
    with pytest.raises(Exception, match=r"line 1\d: the workload randread takes one of command"):
        design.read_study(file)
