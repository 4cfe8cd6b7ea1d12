"""The explorer of claims: choose one, and see what every campaign says of it."""

from __future__ import annotations

import html
import textwrap

import ipywidgets as widgets

from fsgreen.claims import statements
from fsgreen.errors import FsgreenError
from fsgreen.view.explore import claims, here
from fsgreen.view.explore.controls import Follower, dropdown, offer, row
from fsgreen.view.explore.lines import Runner
from fsgreen.view.explore.views import View

ALL = "all verdicts"
LETTERS = 90


class ClaimExplorer(widgets.VBox):
    """Study, verdict and claim to choose; the claim as published, and ours from every campaign.

    The study is shown first; another one, if there is none of that name.
    """

    def __init__(self, study: str = "fast10") -> None:
        self._runner = Runner()
        of_studies, _ = here.campaigns()
        studies = [*dict.fromkeys([*of_studies, *here.studies()])]
        self.study = dropdown("study", studies)
        self.verdict, self.claim = dropdown("verdict"), dropdown("claim")
        self.card = widgets.HTML()
        self.all, self.one = View(), View()
        if study in studies:
            self.study.value = study
        super().__init__([row(self.study, self.verdict), self.all, self.claim, self.card, self.one])
        self._offer_verdicts()
        follower = Follower()
        for control, change in (
            (self.study, self._offer_verdicts),
            (self.verdict, self._offer_claims),
            (self.claim, self._show),
        ):
            follower.follow(control, change)

    def _offer_verdicts(self) -> None:
        study = self.study.value
        shown = self.all.show(lambda: claims.overview(self._runner, study))
        verdicts = [] if shown is None else [*shown.table["verdict"].unique()]
        offer(self.verdict, [(name, name) for name in [ALL, *sorted(verdicts)]])
        self._offer_claims()

    def _offer_claims(self) -> None:
        """Offer the claims of a verdict; without a judged campaign, those that were published."""
        if self.all.shown is None:
            of_study = statements(self.study.value)
            rows = [(slug, "", statement) for slug, statement in of_study.items()]
        else:
            table = self.all.shown.table
            chosen = table["verdict"].eq(self.verdict.value) | (self.verdict.value == ALL)
            rows = [*table.loc[chosen, ["slug", "verdict", "statement"]].itertuples(index=False)]
        offer(self.claim, [(_title(*claim), claim[0]) for claim in rows])
        self._show()

    def _show(self) -> None:
        study, slug = self.study.value, self.claim.value
        for shown in (self.verdict, self.claim, self.card, self.one):
            shown.layout.display = "none" if slug is None else None
        if slug is None:
            return
        try:
            told = claims.card(study, slug)
        except FsgreenError as error:
            told = [("Not known", str(error))]
        self.card.value = (
            '<table class="fsgreen-table">'
            + "".join(
                f"<tr><th>{html.escape(head)}</th><td>{html.escape(text)}</td></tr>"
                for head, text in told
            )
            + "</table>"
        )
        self.one.show(lambda: claims.one(self._runner, study, slug))


def _title(slug: str, verdict: str, statement: str) -> str:
    short = textwrap.shorten(statement, LETTERS, placeholder=" ...")
    return f"{verdict}: {short} ({slug})" if verdict else f"{short} ({slug})"
