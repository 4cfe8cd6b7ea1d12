"""An error about a campaign that is not here says why, and how to get it."""

from pathlib import Path

import pytest

from fsgreen import absence


def test_a_campaign_that_was_begun_is_not_called_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It said "unknown campaign 'mine-quick', did you mean mine-quick?"."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    (tmp_path / "raw" / "mine-quick").mkdir(parents=True)
    (tmp_path / "raw" / "mine-quick" / "plan.json").write_text("{}")
    error = absence.unknown_campaign("mine-quick")
    assert error.what == "no trial of the campaign 'mine-quick' has been analysed"
    assert (error.next_step or "").startswith("fsgreen status mine-quick")
