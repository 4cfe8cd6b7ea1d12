"""The trust page of a campaign: what came of it, and what became of each rule."""

from __future__ import annotations

from fsgreen import rules
from fsgreen.errors import FsgreenError
from fsgreen.pipeline.stages import outcome_of
from fsgreen.view.cockpit import markup

HEAD = ("rule", "state", "question", "found", "remedy")


def page(campaign: str) -> str:
    """Return the page of a campaign whose rules have been judged; or why there is none."""
    try:
        table = rules.by_state(rules.read(campaign))
        came = _came(campaign)
    except FsgreenError as error:
        return markup.fault(error)
    rows = table[[*HEAD]].itertuples(index=False)
    return markup.lines([came]) + markup.table(HEAD, rows)


def _came(campaign: str) -> str:
    """Return what came of a campaign; before its report is made, how far it can be trusted."""
    try:
        return outcome_of(campaign)
    except FsgreenError:
        return rules.summary(campaign)
