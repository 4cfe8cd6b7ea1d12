"""The page for committees that evaluate artifacts: true of what ships."""

import re

from fsgreen import artifact, evidence, paths
from fsgreen.pipeline import params


def test_the_page_is_what_its_command_writes():
    """Typed by hand, verdicts and commands would grow old; times are of the run that made it."""
    page = artifact.file().read_text()
    assert page == artifact.text(artifact.minutes_of(page)), "type: fsgreen artifact"


def test_every_campaign_and_claim_that_it_names_is_there():
    page = artifact.file().read_text()
    assert {*re.findall(r"--campaign (\S+?)`", page)} <= {*params.campaigns()}
    names = re.findall(r"\./run claim ([\w-]+) --run", page)
    assert len(names) > 3
    for name in names:
        assert evidence.find(name).study in params.studies()


def test_every_figure_that_it_names_is_published():
    text = (paths.reference() / "figures.yaml").read_text()
    for paper, numbers in artifact.MADE.items():
        for number in numbers:
            assert f"- id: {paper}-fig{number}\n" in text
