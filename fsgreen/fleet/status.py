"""Who does what in a fleet, and when it will be done, in lines: as home noted it last."""

from __future__ import annotations

import time
from collections.abc import Iterator

from fsgreen.campaign import Campaign
from fsgreen.design.members import member
from fsgreen.design.overview import spell
from fsgreen.fleet import record
from fsgreen.words import plural

AT_WORK = ("measures", "brings", "waits")


def is_of_fleet(campaign: str) -> bool:
    """Return whether a campaign is one of a fleet."""
    return record.file_of(campaign).is_file()


def status(campaign: str) -> Iterator[str]:
    """Yield the lines that `fsgreen status` prints of a campaign of a fleet.

    Raises FsgreenError if its record is damaged.
    """
    kept = record.read(campaign)
    measures = Campaign(campaign).is_measured
    yield f"{campaign}: {kept.study}, profile {kept.profile}, on {_where(kept)}"
    yield from _to_go(kept)
    if not measures:
        yield "  stopped   nobody measures: the same command as before goes on"
    for name, post in kept.posts.items():
        yield f"  {name}  {_doing(post, measures=measures)}; {_trials(post)}"
        if post.rests_count:
            yield (
                f"            rests {post.rested_s / post.rests_count:.2g} s between two trials, "
                "in which they are brought home"
            )
    yield f"  more      fsgreen status {member(campaign, next(iter(kept.posts)))}"


def _where(kept: record.Record) -> str:
    testbeds = plural(len(kept.posts), "testbed")
    return f"{testbeds} that share the blocks" if kept.design == "share" else testbeds


def _to_go(kept: record.Record) -> Iterator[str]:
    """Yield how long it will take: as long as the slowest takes, or all that are at it together."""
    if kept.design == "share":
        posts = [post for post in kept.posts.values() if post.doing in AT_WORK]
        if known_s := [post.to_go_s for post in posts if post.to_go_s]:
            together_s = 1 / sum(1 / alone_s for alone_s in known_s)
            yield f"  to go     about {spell(together_s)} on {plural(len(known_s), 'testbed')}"
        return
    known_s = [post.to_go_s for post in kept.posts.values() if post.to_go_s is not None]
    if any(known_s):
        least = "at least " if len(known_s) < len(kept.posts) else "about "
        yield f"  to go     {least}{spell(max(known_s))}, as testbeds measure side by side"


def _doing(post: record.Post, *, measures: bool) -> str:
    told = f" ({post.told})" if post.told else ""
    if not measures and post.doing not in ("done", "refused"):
        return "stopped"
    since = f" for {spell(max(0.0, time.time() - post.since_unix_s))}"
    return f"{post.doing}{'' if post.doing in ('done', 'refused') else since}{told}"


def _trials(post: record.Post) -> str:
    if not post.here_count:
        return "none of its trials is here"
    of = f" of {post.due_count}" if post.due_count else ""
    return f"{post.here_count}{of} trials are here"
