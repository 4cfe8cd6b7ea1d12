"""Trials of one name but of two texts are two workloads (rule 9)."""

import pytest
import synthetic

from fsgreen import paths, reduce, trial
from fsgreen.errors import FsgreenError


@pytest.fixture
def rewrite(tmp_path, monkeypatch):
    """Return a function that writes a campaign, each of whose trials has a text, or None."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))

    def write(*texts):
        plan = synthetic.make_plan(synthetic.cells(["webserver"], ["ext4"]), len(texts))
        synthetic.write_raw("demo", plan)
        for found, text in zip(trial.list_trials(paths.raw("demo")), texts, strict=True):
            if text is not None:
                record = found.record.but(workload_sha256=text * 64)
                trial.write_json(found.folder / "trial.json", record.to_json())

    return write


def test_trials_of_two_texts_are_refused_with_the_first_of_each(rewrite):
    """A mean over an edited personality would be that of no workload."""
    rewrite("a", "b", "a")
    with pytest.raises(FsgreenError, match=r"workload webserver are never pooled") as caught:
        reduce.write("demo")
    assert "aaaaaaaaaaaa (first b01" in str(caught.value)
    assert "bbbbbbbbbbbb (first b02" in str(caught.value)
    assert caught.value.next_step


@pytest.mark.parametrize("texts", [("a", "a"), (None, None), (None, "a")])
def test_trials_of_one_text_and_older_ones_are_pooled(rewrite, texts):
    """Shipped campaigns do not say which text it was, and must stay readable."""
    rewrite(*texts)
    reduce.write("demo")
    assert len(reduce.read_table("demo", "trials")) == len(texts)
