"""Who does what in a fleet, and when it will be done, in lines."""

from __future__ import annotations

import time
from collections.abc import Iterator

from fsgreen import trial
from fsgreen.campaign import Campaign
from fsgreen.campaign.pace import Pace
from fsgreen.design.overview import spell
from fsgreen.errors import FsgreenError
from fsgreen.fleet import record
from fsgreen.fleet.fleetfile import member
from fsgreen.words import plural


def is_of_fleet(campaign: str) -> bool:
    """Return whether a campaign is one of a fleet."""
    return record.file_of(campaign).is_file()


def status(campaign: str) -> Iterator[str]:
    """Yield the lines that `fsgreen status` prints of a campaign of a fleet.

    Raises
    ------
    FsgreenError
        If its record, or that of a trial, is damaged.
    """
    kept = record.read(campaign)
    measures = _measures(campaign)
    to_go = {name: _to_go_s(member(campaign, name)) for name in kept.posts}
    yield f"{campaign}: {kept.study}, profile {kept.profile}, on {plural(len(to_go), 'testbed')}"
    known = [left_s for left_s in to_go.values() if left_s is not None]
    if any(known):
        least = "at least " if len(known) < len(to_go) else "about "
        yield f"  to go     {least}{spell(max(known))}, as testbeds measure side by side"
    if not measures:
        yield "  stopped   nobody measures: the same command as before goes on"
    for name, post in kept.posts.items():
        yield f"  {name}  {_doing(post, measures=measures)}; {_trials(member(campaign, name))}"
        if post.rests_count:
            yield (
                f"            rests {post.rested_s / post.rests_count:.2g} s between two trials, "
                "in which they are brought home"
            )
    yield f"  more      fsgreen status {member(campaign, next(iter(kept.posts)))}"


def _doing(post: record.Post, *, measures: bool) -> str:
    told = f" ({post.told})" if post.told else ""
    if not measures and post.doing not in ("done", "refused"):
        return "stopped"
    since = f" for {spell(max(0.0, time.time() - post.since_unix_s))}"
    return f"{post.doing}{'' if post.doing in ('done', 'refused') else since}{told}"


def _trials(name: str) -> str:
    campaign = Campaign(name)
    if not campaign.begun():
        return "none of its trials is here"
    due = len(campaign.due())
    return f"{due - len(campaign.pending())} of {due} trials are here"


def _to_go_s(name: str) -> float | None:
    """Return how long a testbed will measure, None where that is not known yet."""
    campaign = Campaign(name)
    if not campaign.begun():
        return None
    seen = [*trial.list_trials(campaign.folder), *trial.list_invalid(campaign.folder)]
    return Pace.of(campaign.plan(), seen).total_s(one.cell for one in campaign.pending())


def _measures(campaign: str) -> bool:
    """Return whether home is measuring now."""
    try:
        with Campaign(campaign).alone():
            return False
    except FsgreenError:
        return True
