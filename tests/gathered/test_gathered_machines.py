"""What several machines say together: each of them, their mean, and what the next will find."""

import math
from pathlib import Path

import pytest
from scipy import stats as distributions

from fsgreen import cli, gathered, stats
from fsgreen.errors import FsgreenError
from fsgreen.gathered import document
from fsgreen.gathered.pools import tables
from fsgreen.reduce import read_csv
from tests import documented

PAGE = "docs/gather.md"
OVER = "webserver: ext4/default over xfs/default"


def told(*results, chosen=("throughput",)):
    """What these files say, without files."""
    files = [Path(f"{number}.json") for number in range(1, len(results) + 1)]
    return gathered.Gathered(files, results, *tables(results, chosen))


def text(*results, **chosen):
    return "\n".join(gathered.lines(told(*results, **chosen)))


def with_ratio(results, log, error, degrees=8.0):
    """The results with one and the same ratio in every comparison."""
    half = float(distributions.t.ppf(0.975, degrees)) * error
    ends = {"x": math.exp(log), "low": math.exp(log - half), "high": math.exp(log + half)}
    ratio = document.Between(**ends)
    changed = {"ratio": ratio, "degrees_count": degrees}
    return results.model_copy(
        update={"effects": tuple(effect.model_copy(update=changed) for effect in results.effects)}
    )


def elsewhere(results, **machine):
    """The results as another machine would have sent them."""
    return results.model_copy(update={"machine": results.machine.model_copy(update=machine)})


def test_three_machines_by_hand(sent):
    """The mean, the spread and the next are those of the random-effects model, no others."""
    logs, errors = [0.1, 0.2, 0.4], [0.02, 0.03, 0.05]
    found = told(*(with_ratio(sent[0], *pair) for pair in zip(logs, errors, strict=True)))
    expected = stats.random_effects(logs, errors, 8)
    row = found.together.set_index("comparison").loc[OVER]
    assert row["files_count"] == 3
    assert math.log(row["ratio_x"]) == pytest.approx(expected.value)
    assert math.log(row["next_low_x"]) == pytest.approx(expected.next_low)
    assert math.log(row["next_high_x"]) == pytest.approx(expected.next_high)
    assert row["spread_percent"] == pytest.approx(100 * math.expm1(expected.spread))
    assert len(found.together) == 2
    # Both comparisons are one family.
    assert row["same_holm_p"] == pytest.approx(2 * expected.same_p)


def test_machines_that_differ_are_told_apart_and_pooled_all_the_same(sent):
    """How far they differ is the result; the ledger, which decides claims, gives no number then."""
    shown = text(*sent)
    assert OVER in shown
    row = told(*sent).together.set_index("comparison").loc[OVER]
    assert row["same_holm_p"] < 0.05 and row["spread_percent"] > 5
    assert row["next_low_x"] < row["ratio_low_x"] < row["ratio_high_x"] < row["next_high_x"]
    assert "(they differ); next machine" in shown
    assert "Two machines say little of a third" in shown


def test_machines_that_agree_say_where_the_next_will_be(sent):
    five = [with_ratio(sent[0], 0.3 + 0.001 * nth, 0.01) for nth in range(5)]
    assert "(no sure difference); next machine" in text(*five)
    assert ": more" in text(*five)
    assert ": less" in text(*(with_ratio(sent[0], -0.3, 0.01) for _ in range(5)))


def test_power_of_two_boundaries_is_not_pooled(sent):
    """Watts at the wall and of a processor are not the same (rule 19); work per second is."""
    at_the_wall = sent[1].model_copy(
        update={
            "effects": tuple(
                effect.model_copy(update={"boundary": "wall"}) for effect in sent[1].effects
            )
        }
    )
    found = told(sent[0], at_the_wall, chosen=())
    assert {*found.together["metric"]} == {"throughput"}
    shown = text(sent[0], at_the_wall, chosen=())
    assert "not pooled, as they differ in: boundary (modelled / wall)" in shown
    assert "power MODELLED: it decides nothing" in shown


def test_modelled_power_is_pooled_by_one_model_alone(sent):
    assert "efficiency" in {*told(*sent, chosen=()).together["metric"]}
    meters = tuple(meter.model_copy(update={"source_sha256": "0" * 64}) for meter in sent[1].meters)
    other = sent[1].model_copy(update={"meters": meters})
    assert {*told(sent[0], other, chosen=()).together["metric"]} == {"throughput"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"scale": {"webserver": 0.5}}, "at scale 0.1"),
        ({"measure_s": 600.0}, "600 s after"),
        ({"window_s": 1.0}, "in windows of 1 s"),
    ],
)
def test_another_scale_or_length_is_not_pooled_in_silence(sent, change, said):
    profile = sent[1].profile.model_copy(update=change)
    other = sent[1].model_copy(update={"profile": profile})
    assert told(sent[0], other).together.empty
    shown = text(sent[0], other)
    assert "not pooled, as they differ in: work (" in shown and said in shown


def test_another_text_of_a_workload_is_other_work(sent):
    one, other = (
        results.model_copy(update={"workloads": {"webserver": digit * 64}})
        for results, digit in zip(sent, "ab", strict=True)
    )
    assert told(one, other).together.empty


def test_what_is_simulated_is_marked_and_stands_apart(sent):
    testbed = sent[1].testbed.model_copy(
        update={"kind": "simdisk", "clock": "real", "model": "Maxtor Atlas 15K"}
    )
    simulated = sent[1].model_copy(update={"testbed": testbed})
    shown = text(*sent, simulated)
    assert "SIMULATED: simdisk (Maxtor Atlas 15K)" in shown
    assert "(simulated: simdisk real Maxtor Atlas 15K" in shown
    assert "files 1, 2: mean" in shown
    assert "basis (measured / simulated)" in shown


def test_without_a_steady_state_there_is_no_mean_to_pool(sent):
    moving = sent[1].model_copy(
        update={
            "effects": tuple(
                effect.model_copy(update={"outcome": "inconsistent"}) for effect in sent[1].effects
            )
        }
    )
    assert told(sent[0], moving).together.empty
    assert "no steady state" in text(sent[0], moving)


def test_two_files_of_one_machine_are_named(sent):
    """Who counts a machine twice promises too much for the next."""
    assert "files 1 and 2 are of machines that look alike" in text(*sent)
    assert "look alike" not in text(sent[0], elsewhere(sent[1], cores_count=64))


def test_a_confound_keeps_its_mark(sent):
    effects = tuple(
        effect.model_copy(update={"gate": gate})
        for effect, gate in zip(sent[0].effects, ["flagged", "passed"] * 9, strict=False)
    )
    shown = text(sent[0].model_copy(update={"effects": effects}))
    assert "confound: flagged" in shown and "confound: passed" not in shown


def test_one_file_is_shown_as_it_is(sent):
    shown = text(sent[0])
    assert "one file: 2 comparisons, nothing to pool" in shown
    assert OVER in shown and "next machine" not in shown


def test_files_without_a_common_comparison_say_so(sent):
    none = sent[1].model_copy(update={"effects": ()})
    assert "no comparison is in two of the files" in text(sent[0], none)


def write(folder, **results):
    for name, of_file in results.items():
        (folder / f"{name}.json").write_text(of_file.text())


def test_files_that_do_not_belong_together_are_refused(sent, tmp_path):
    write(tmp_path, mine=sent[0], again=sent[0], mail=sent[1].model_copy(update={"study": "mail"}))
    mine, again, mail = (tmp_path / f"{name}.json" for name in ("mine", "again", "mail"))
    with pytest.raises(FsgreenError, match="two of the files are the same"):
        gathered.gather([mine, again])
    with pytest.raises(FsgreenError, match="of several studies: fast10 and mail"):
        gathered.gather([mine, mail])
    with pytest.raises(FsgreenError, match="did you mean throughput"):
        gathered.gather([mine], ["troughput"])


def test_the_commands_of_the_page_do_what_it_says(here, sent, capsys):
    """Who follows the page has a file, and then a folder of tables and plots."""
    write(here, theirs=sent[1])
    lines = [line for code in documented.tested(PAGE) for line in code.split("\n")]
    commands = [words for line in lines for _, *words in documented.parts(line)]
    assert [words[0] for words in commands] == ["export", "gather"]
    for words in commands:
        assert cli.main(["one" if word == "mine-quick" else word for word in words]) == 0
    shown = capsys.readouterr().out
    assert "next machine [" in shown
    names = {file.name for file in (here / "beside").iterdir()}
    plots = ("forest_throughput", "forest_efficiency")
    of_metrics = {f"{plot}.{kind}" for plot in plots for kind in ("svg", "png")}
    assert names == {"gathered.txt", "machines.csv", "together.csv", *of_metrics}
    for name in ("gathered.txt", "machines.csv", "together.csv", "forest_METRIC.svg"):
        assert f"`{name}`" in (documented.ROOT / PAGE).read_text()
    assert len(read_csv(here / "beside" / "machines.csv")) == 8
    kept = (here / "beside" / "gathered.txt").read_text()
    assert " ".join(kept.split()) in " ".join(shown.split()), "but for where lines end"


def test_a_folder_of_other_things_is_kept(here, sent, capsys):
    write(here, mine=sent[0], theirs=sent[1])
    (here / "letters").mkdir()
    (here / "letters" / "one").write_text("dear")
    command = ["gather", "mine.json", "theirs.json", "--out", "letters"]
    assert cli.main(command) == 1
    assert "there is something else already" in capsys.readouterr().err
    assert [file.name for file in (here / "letters").iterdir()] == ["one"]
    assert cli.main([*command[:-1], "new"]) == 0
    assert cli.main([*command[:-1], "new"]) == 0, "what it wrote it may write again"


def marks(axes):
    """Whether the marks of machines are filled, from top to bottom."""
    lines = [line for line in axes.get_lines() if line.get_marker() in ("s", "o")]
    by_place = sorted(lines, key=lambda line: line.get_ydata()[0])
    return [line.get_markerfacecolor() != "white" for line in by_place]


def test_the_plot_has_each_machine_the_mean_and_the_next(sent):
    testbed = sent[1].testbed.model_copy(update={"kind": "vm"})
    found = told(*sent, sent[1].model_copy(update={"testbed": testbed}), chosen=())
    (axes,) = gathered.forest(found, "throughput").axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["1", "2", "3", "2 together"] * 2
    assert marks(axes) == [True, True, False] * 2, "what is simulated is hollow"
    texts = [shown.get_text() for shown in axes.texts]
    assert OVER in texts and any(", next [" in shown for shown in texts)
    assert "modelled power" not in texts
    (axes,) = gathered.forest(found, "efficiency").axes
    assert "modelled power" in [shown.get_text() for shown in axes.texts]
    assert marks(axes) == [False] * 6, "nobody measured a watt"


def test_a_plot_of_nothing_says_so(sent):
    assert gathered.forest(told(sent[0]), "throughput").axes[0].texts


def test_what_a_plot_leaves_out_is_told(sent):
    """Of hundreds of comparisons a page shows the first."""
    effects = tuple(
        effect.model_copy(update={"of": {"file_system": "xfs", "option": f"o{nth}"}})
        for nth in range(60)
        for effect in sent[0].effects[:1]
    )
    both = [results.model_copy(update={"effects": effects}) for results in sent]
    figure = gathered.forest(told(*both), "throughput")
    assert "more comparisons stand in together.csv" in figure.get_supxlabel()
