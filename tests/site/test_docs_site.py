"""The documentation as a site: every link leads somewhere, and no page is left out."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from fsgreen import paths, site
from fsgreen.errors import FsgreenError
from fsgreen.site.contents import KINDS
from fsgreen.site.text import anchor
from tests import documented
from tests.view import chromium
from tests.view.test_screenshots import MADE, RENEW

LISTED = """
tutorials: [docs/first.md]
how_to: []
reference: [docs/meters.md]
explanation: []
"""
PAGES = {
    "README.md": "# Home\n\n[First](docs/first.md), [a rail](docs/meters/rail.md#its-flags)\n",
    "docs/contents.yaml": LISTED,
    "docs/first.md": "# First & only\n\n## Begin\n\n[Home](../README.md), [here](#begin)\n",
    "docs/meters.md": "# Meters\n\n| a | b |\n|---|---|\n| [rail](meters/rail.md) | 1 |\n",
    "docs/meters/rail.md": "# Rail\n\n## Its `flags`\n\n[schema](../schema.json)\n",
    "docs/schema.json": "{}\n",
}


@dataclass
class Read(HTMLParser):
    """What is in a page of HTML."""

    ids: set[str] = field(default_factory=set)
    tags: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    pictures: list[tuple[str, str]] = field(default_factory=list)
    current: int = 0

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        of = {name: value or "" for name, value in attrs}
        self.tags.append(tag)
        self.current += "aria-current" in of
        if name := of.get("id"):
            assert name not in self.ids
            self.ids.add(name)
        if tag in ("a", "link"):
            self.links.append(of["href"])
        if tag == "img":
            self.links.append(of["src"])
            self.pictures.append((of["src"], of["alt"]))


def read(file: Path) -> Read:
    page = Read()
    page.feed(file.read_text())
    return page


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site of this repository, without results."""
    root = tmp_path_factory.mktemp("repository")
    shutil.copytree(paths.code() / "docs", root / "docs")
    for file in paths.code().glob("*.md"):
        shutil.copy(file, root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FSGREEN_DATA", str(tmp_path_factory.mktemp("data")))
        return site.write(root).parent


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of few pages."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path / "data"))
    root = tmp_path / "repository"
    for name, text in PAGES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def refused(root: Path) -> str:
    with pytest.raises(FsgreenError) as caught:
        site.write(root)
    assert not (root / "build").exists()
    return str(caught.value)


def test_every_link_of_every_page_leads_to_a_file_and_a_section(built: Path) -> None:
    pages = {file: read(file) for file in built.rglob("*.html")}
    assert len(pages) > 50
    for file, page in pages.items():
        for link in page.links:
            if re.match("[a-z]+:", link):
                continue
            name, _, section = unquote(link).partition("#")
            target = (file.parent / name).resolve() if name else file
            assert target.is_file(), f"{file}: {link}"
            assert not section or section in pages[target].ids, f"{file}: {link}"


def test_every_page_is_listed_and_tells_where_the_reader_is(built: Path) -> None:
    for file in built.rglob("*.html"):
        page = read(file)
        assert page.current == (file.name != "index.html"), file
        assert page.tags.count("h1") == 1, file
        links = {(file.parent / unquote(link.partition("#")[0])).resolve() for link in page.links}
        assert {*built.rglob("*.html")} - links <= {file}


def test_a_page_needs_no_script_and_no_network_and_says_what_pictures_show(built: Path) -> None:
    for file in built.rglob("*.html"):
        page = read(file)
        assert "script" not in page.tags
        assert not [name for name, _ in page.pictures if ":" in name]
        assert all(len(text) > 20 for _, text in page.pictures)
    styles = "".join(file.read_text() for file in built.glob("*.css"))
    assert "url(" not in styles and "@import" not in styles


def test_a_page_stands_under_its_kind_and_below_its_folder(small: Path) -> None:
    folder = site.write(small).parent
    text = (folder / "docs" / "meters" / "rail.html").read_text()
    places = [text.index(f"<h2>{kind}</h2>") for kind in KINDS.values()]
    assert places == sorted(places)
    assert re.search(r"First &amp; only</a>.*Meters</a><details open>", text, re.DOTALL)
    assert '<a href="rail.html" aria-current="page">Rail</a>' in text
    assert '<li><a href="#its-flags">Its flags</a></li>' in text
    assert (folder / "docs" / "schema.json").read_text() == "{}\n"


def test_what_is_no_longer_written_is_gone_from_the_site(small: Path) -> None:
    folder = site.write(small).parent
    (folder / "old.html").write_text("")
    site.write(small)
    assert not (folder / "old.html").exists()


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        (
            "docs/first.md",
            "(../README.md)",
            "(../READ.md)",
            "docs/first.md:5: there is no file READ.md, did you mean README.md?",
        ),
        (
            "README.md",
            "#its-flags",
            "#its-flag",
            "README.md:3: docs/meters/rail.md has no section #its-flag, did you mean its-flags?",
        ),
        ("docs/first.md", "(#begin)", "(#end)", "docs/first.md:5: docs/first.md has no section"),
        (
            "docs/meters.md",
            "(meters/rail.md)",
            "(rail.md)",
            "docs/meters.md:5: there is no file docs/rail.md",
        ),
        (
            "docs/first.md",
            "## Begin",
            "![](x.png)\n\n## Begin",
            "docs/first.md:3: x.png has no text for who cannot see it",
        ),
        ("docs/first.md", "## Begin", '<a href="x">x</a>', "docs/first.md:3: HTML"),
        ("docs/first.md", "[Home]", "[Out](../../etc), [Home]", "docs/first.md:5: there is no"),
        ("docs/contents.yaml", "[docs/first.md]", "[docs/frist.md]", "docs/contents.yaml:2"),
        ("docs/contents.yaml", "how_to: []", "how_to: [docs/first.md]", "stands there 2 times"),
        ("docs/contents.yaml", "[docs/meters.md]", "[]", "no kind is given for"),
        ("docs/contents.yaml", "how_to:", "howto:", "did you mean how_to"),
    ],
)
def test_what_is_broken_is_an_error_with_file_and_line(
    small: Path, file: str, old: str, new: str, told: str
) -> None:
    """A reader finds a broken link at once, and who wrote it never does."""
    text = (small / file).read_text()
    assert old in text
    (small / file).write_text(text.replace(old, new))
    assert told in refused(small)


def test_all_faults_are_told_at_once(small: Path) -> None:
    (small / "docs" / "first.md").write_text("# First\n\n[a](a.md)\n[b](b.md)\n")
    said = refused(small)
    assert "the pages have 2 faults" in said
    assert "docs/first.md:3: there is no file docs/a.md" in said
    assert "docs/first.md:4: there is no file docs/b.md" in said


def test_without_a_checkout_it_is_told_where_the_pages_are(tmp_path: Path) -> None:
    assert "./run docs" in refused(tmp_path)


@pytest.mark.parametrize(
    ("heading", "taken", "name"),
    [
        ("A study without a campaign", (), "a-study-without-a-campaign"),
        ("Leftovers of 1.4", (), "leftovers-of-14"),
        ("Does it work?  Yes & no", (), "does-it-work--yes--no"),
        ("file_system", (), "file_system"),
        ("Flags", ("flags", "flags-1"), "flags-2"),
    ],
)
def test_anchors_are_those_of_github(heading: str, taken: tuple[str, ...], name: str) -> None:
    assert anchor(heading, taken) == name


def test_a_picture_is_one_that_a_test_makes_anew_and_that_a_page_shows() -> None:
    """What nothing makes shows for ever what was there once."""
    files = [*(paths.code() / "docs" / "pictures").iterdir()]
    assert {file.stem for file in files} == MADE, RENEW
    assert max(file.stat().st_size for file in files) < 100_000
    shown = {link.target for page in documented.pages().values() for link in page.links()}
    for name in MADE:
        assert any(target.endswith(f"pictures/{name}.png") for target in shown), name


@pytest.mark.skipif(chromium.program() is None, reason="no Chromium: apt install chromium")
def test_a_page_fits_narrow_screens_and_dark_rooms(built: Path, tmp_path: Path) -> None:
    """On a phone the text comes first, and nothing is wider than the screen."""
    file = (built / "docs" / "measuring.html").as_uri()
    with chromium.browse(file, tmp_path) as page:
        page.wait("document.querySelector('nav h2') !== null")
        top = "document.querySelector('{}').getBoundingClientRect().top"
        for width, beside in ((1400, True), (360, False)):
            page.resize(width, 800)
            assert page.value("document.documentElement.scrollWidth") <= width
            assert page.value(f"{top.format('nav')} <= {top.format('main')}") is beside
        colours = set()
        for scheme in ("light", "dark"):
            feature = {"name": "prefers-color-scheme", "value": scheme}
            page.call("Emulation.setEmulatedMedia", features=[feature])
            colours.add(page.value("getComputedStyle(document.body).color"))
        assert len(colours) == 2, "the text is as dark at night as by day"
