"""A student who makes a typical mistake is told which; one who solves a lab passes it."""

from collections.abc import Callable

import pandas as pd
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from played import FILES, Played

from fsgreen.labs.difference import DifferenceLab
from fsgreen.labs.feedback import NotYet, Number

Play = Callable[[str], Played]

ENERGY, DISK = "energy_is_not_power", "fool_yourself_with_a_disk"
DIFFERENCE, MAIL = "is_the_difference_real", "which_file_system_for_a_mail_server"
SLEEP, READ_AHEAD = "put_disks_to_sleep", "teach_a_server_to_read_ahead"
SOFTWARE = "count_what_software_costs"

INSIDE = 'readings[readings["time_s"].between(disk.start_s, disk.end_s)]'
GOOD = '(lambda t: t[t["quality"] == "ok"])(disk.inside("b"))'
BASE = 'lab.trials[lab.trials["change"] == "baseline"]["throughput_ops_s"]'
JOURNAL = 'lab.trials[lab.trials["change"] == "journal"]["throughput_ops_s"]'
UNPAIRED = f"np.sqrt({BASE}.var() / 6 + {JOURNAL}.var() / 6) / {BASE}.mean()"

MISTAKES = [
    (ENERGY, "energy", f'{INSIDE}["power_w"].mean() * (disk.end_s - disk.start_s)', "mean of the"),
    (ENERGY, "energy", 'readings["power_w"].mean() * (disk.end_s - disk.start_s)', "mean of the"),
    (ENERGY, "energy", f'{INSIDE}["power_w"].sum()', "sum of watts"),
    (ENERGY, "energy", "energy_j / 3600", "not in the unit"),
    (ENERGY, "energy", 'np.trapezoid(readings["power_w"], readings["time_s"])', "whole trace"),
    (ENERGY, "least", f'np.trapezoid({GOOD}["power_w"], {GOOD}["time_s"])', "were dropped"),
    (ENERGY, "least", f'{GOOD}["power_w"].sum()', "were dropped"),
    (ENERGY, "report", '"the energy without flagged readings"', "reports too little"),
    (ENERGY, "shortest", "0.3 / (0.02 * lab.server_w)", "How many joules"),
    (ENERGY, "shortest", "1080 / (2 * lab.server_w)", "2 % were taken as 2"),
    (ENERGY, "shortest", "1080 / (0.035 * lab.server_w)", "the gain is in there"),
    (ENERGY, "gain", '"one energy in joules"', "1.015"),
    (ENERGY, "saved", "100 * (1 - each_j.iloc[0] / each_j.iloc[1])", "same stretch of time"),
    (
        ENERGY,
        "saved",
        '100 * (1 - disk.runs["power_w"].iloc[0] / disk.runs["power_w"].iloc[1])',
        "compares watts",
    ),
    (
        ENERGY,
        "efficiency",
        '(disk.trials["work_ops"] / disk.trials["energy_j"]).mean()',
        "mean of three ratios",
    ),
    (DISK, "place", "100 * (1 - places.iloc[-1] / places.iloc[0])", "how much slower"),
    (DISK, "place", "places.iloc[0] / places.iloc[-1]", "subtract 1"),
    (DISK, "queue", "32", "one arm only"),
    (
        DISK,
        "scheduler",
        "(lambda t: t.max() / t.min())(runs[runs.scheduler == least_fair].completion_s)",
        "inside each pass",
    ),
    (DISK, "cache", 'speeds_of["cold"] / speeds_of["warm"]', "cold over warm"),
    (
        DISK,
        "alignment",
        '100 * (1 - rates["read", 512] / rates["read", 0])',
        "these are the reads",
    ),
    (DISK, "read-ahead", "1 / stride_x", "off over on"),
    (DISK, "alone", '["place"]', "at least one more"),
    (DISK, "alone", 'alone | {"alignment"}', "not shown to be larger"),
    (DISK, "alone", '{"colour"}', "choose from"),
    (
        DIFFERENCE,
        "trials",
        "100 * 1.98 * baseline_s.std() / 120**0.5 / baseline_s.mean()",
        "second",
    ),
    (DIFFERENCE, "trials", f"100 * 1.96 * {BASE}.std() / 6**0.5 / {BASE}.mean()", "1.96 holds"),
    (
        DIFFERENCE,
        "trials",
        f"100 * stats.t.ppf(0.975, 5) * {BASE}.std(ddof=0) / 6**0.5 / {BASE}.mean()",
        "ddof=1",
    ),
    (
        DIFFERENCE,
        "coverage",
        '100 * (off <= 1.96 * lab.campaigns["sd_ops_s"]).mean()',
        "square root",
    ),
    (DIFFERENCE, "blocked", f"100 * stats.t.ppf(0.975, 10) * {UNPAIRED}", "shares a block"),
    (DIFFERENCE, "blocked", f"100 * 1.96 * {UNPAIRED}", "shares a block"),
    (DIFFERENCE, "cache", '"equal within 5 %"', "not that there is none"),
    (DIFFERENCE, "cache", '"different"', "leave out a ratio of 1"),
    (DIFFERENCE, "noop", '"not known"', "says more than that"),
    (DIFFERENCE, "blocks", "6", "in one campaign of two"),
    (DIFFERENCE, "blocks", "7", "normal quantiles"),
    (MAIL, "trials", "8", "one block"),
    (MAIL, "trials", "(1 + 1 + 3) * 5", "one thing at a time"),
    (MAIL, "option", "dtlg_on_ext3_x - 1", "asked is the ratio"),
    (MAIL, "expected", "ext4_x + dtlg_on_ext3_x - 1", "Shares multiply"),
    (MAIL, "together", "interaction_x * expected_x", "Divide it"),
    (MAIL, "verdict", '"no interaction"', "not that there is none"),
    (MAIL, "candidates", 'candidates | {"ext4/nojnl"}', "lose mail"),
    (MAIL, "candidates", "{lab.beside_best.index[0]}", "A rank alone"),
    (MAIL, "watts", '"yes: they are in the table"', "boundary"),
    (SLEEP, "break-even", 'facts["spin_up_j"] / saved_w', "as well as starting"),
    (SLEEP, "break-even", 'moving_j / facts["idle_w"]', "standby power"),
    (SLEEP, "oracle", "asleep_j.sum()", "the short ones"),
    (SLEEP, "oracle", "awake_j.sum()", "never stops"),
    (SLEEP, "years", "years * 8760", "in hours"),
    (SLEEP, "waits", '"all requests, by a little"', "slowest request"),
    (SLEEP, "printed", "before_w - after_w", "these are the watts"),
    (READ_AHEAD, "gain", "1 / gain_x", "never over always"),
    (READ_AHEAD, "count", "16", "n - 1 reads ahead"),
    (READ_AHEAD, "lost", "100 - lost_percent", "what is left"),
    (READ_AHEAD, "cursors", "15", "none at all"),
    (READ_AHEAD, "record", '"the mean of more runs"', "same table"),
    (READ_AHEAD, "own", "Own(lambda count, away_b: 127, places=16)", "at random"),
    (READ_AHEAD, "own", "Own(lambda count, away_b: 0)", "slower than the default"),
    (READ_AHEAD, "own", "halved", "a place for each stream"),
    (READ_AHEAD, "own", "3", "a heuristic is asked for"),
    (SOFTWARE, "repeat", '"that the numbers are right"', "wrong by an hour"),
    (SOFTWARE, "repeat", '"that another job has the same numbers"', "the same job"),
    (SOFTWARE, "repeat", '"that file systems are as fast on an SSD"', "no SSD took part"),
    (SOFTWARE, "each", "1e9 * mail.virtual_s", "How many were done"),
    (SOFTWARE, "each", "mail.work_ops / mail.virtual_s", "operations per second"),
    (SOFTWARE, "each", "each_ns / 1e9", "these are seconds"),
    (SOFTWARE, "each", "each_ns / 1000", "not in the unit"),
    (SOFTWARE, "each", 'every_ns[1, "webserver", "ext4", "default"]', "the web server"),
    (SOFTWARE, "journal", "1 / journal_x", "over the time with it"),
    (SOFTWARE, "journal", "journal_x - 1", "what is added"),
    (SOFTWARE, "journal", "mail.virtual_s / without.virtual_s", "How long does one operation"),
    (SOFTWARE, "saved", "differences.iloc[0]", "first sample"),
    (SOFTWARE, "saved", "100 * (1 - noatime.mean() / strictatime.mean())", "per cent"),
    (SOFTWARE, "half", "2 * half_ns", "asked is half"),
    (SOFTWARE, "half", "1.96 * differences.std() / np.sqrt(n)", "here are few"),
    (SOFTWARE, "half", "differences.std() / np.sqrt(n)", "a standard error"),
    (SOFTWARE, "half", "half_ns * np.sqrt(n)", "for one sample"),
    (SOFTWARE, "half", "half_ns * np.sqrt((n - 1) / n)", "ddof=1"),
    (
        SOFTWARE,
        "half",
        "stats.t.ppf(0.975, 2 * n - 2) * np.sqrt((strictatime.var() + noatime.var()) / n)",
        "share nothing",
    ),
    (SOFTWARE, "say", "set(list(supported)[:1])", "at least one more"),
    (SOFTWARE, "say", '{"ext4 needs more joules with its journal"}', "took no part"),
]


@pytest.mark.parametrize("name", FILES)
def test_a_lab_passes_its_own_solution(play: Play, name: str) -> None:
    assert play(name).refused == {}


@pytest.mark.parametrize(("name", "task", "answer", "words"), MISTAKES)
def test_a_typical_mistake_is_named(play: Play, name: str, task: str, answer: str, words: str):
    """Otherwise a student learns that an answer is wrong, and nothing from it."""
    played = play(name)
    played.names |= {
        "baseline_s": played.names.get("baseline", {}).get("throughput_ops_s"),
        "least_fair": played.names.get("fairness", pd.Series({"": 1})).idxmax(),
        "speeds_of": {"cold": 1.0, "warm": played.names.get("warm_x")},
    }
    assert words in played.feedback(task, answer)


@pytest.mark.parametrize("name", FILES)
def test_a_missing_answer_is_asked_for(play: Play, name: str) -> None:
    lab = play(name)
    for task in lab.names["lab"].tasks:
        assert any(words in lab.feedback(task, "...") for words in ("no answer", "is asked for"))


@pytest.mark.parametrize("name", FILES)
def test_no_feedback_to_a_number_holds_the_answer(play: Play, name: str) -> None:
    """Thirty students would pass it on."""
    lab = play(name).names["lab"]
    for make in lab.tasks.values():
        task = make()
        if isinstance(task, Number):
            answer = {f"{task.right:.{digits}g}" for digits in (2, 3, 4)}
            for mistake in task.mistakes:
                words = mistake.says.replace(",", " ").replace(".", " ").split()
                assert not answer & set(words), mistake.says


@pytest.mark.parametrize("seed", [2, 3])
def test_seeds_of_their_own_give_students_other_numbers(play: Play, seed: int) -> None:
    """Each student then solves the same task, and none can copy."""
    first, other = play(ENERGY), Played(ENERGY, seed=seed)
    assert other.refused == {}
    assert other.names["energy_j"] != pytest.approx(first.names["energy_j"], rel=0.001)


def test_a_prediction_is_a_number_and_may_be_left_open(capsys: pytest.CaptureFixture[str]) -> None:
    lab = DifferenceLab()
    lab.predict("blocks", ...)
    assert "No prediction yet" in capsys.readouterr().out
    with pytest.raises(NotYet, match="without its unit"):
        lab.predict("blocks", "5 blocks")
    lab.predict("blocks", "5")
    assert lab.predictions()["predicted"].to_list() == [5.0]


def test_a_notebook_shows_feedback_and_no_traceback() -> None:
    """IPython asks an exception for its own picture; nbgrader sees an error all the same."""
    shell = InteractiveShell()
    with capture_output() as shown:
        done = shell.run_cell("from fsgreen.labs.feedback import NotYet\nraise NotYet('think')")
    assert isinstance(done.error_in_exec, NotYet)
    assert shown.stdout.strip() == "Not yet: think"


def test_predictions_stand_beside_what_was_found(play: Play) -> None:
    table = play(DIFFERENCE).names["lab"].predictions()
    assert list(table.columns) == ["predicted", "found", "found_over_predicted"]
    assert table.loc["blocks"].to_list() == [5, 10, 2]
