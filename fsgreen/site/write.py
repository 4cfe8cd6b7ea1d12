"""`build/site`: the site of the documentation, made anew as a whole."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from fsgreen import paths
from fsgreen.errors import FsgreenError
from fsgreen.site import contents, figures, gallery, links, text
from fsgreen.site.page import ARTICLE, HERE, STYLE, Entry, Page, whole


def write(root: Path | None = None) -> Path:
    """Write the site of a repository into its folder `build/site`; return the page it begins with.

    Nothing is written before all links have been checked.

    It is the checkout by default. Raises FsgreenError if there is no checkout, a page has no kind,
    or a link leads nowhere.
    """
    root = root or paths.code()
    if not (root / contents.FILE).is_file():
        raise FsgreenError(
            "only a checkout of fsgreen has the pages of the documentation",
            where=root,
            next_step="git clone it, then ./run docs there",
        )
    listed = contents.read(root)
    texts = {path: text.read(root, path) for path in contents.every(listed)}
    named = links.resolve(texts, root)
    pages = {path: _page(written) for path, written in texts.items()}
    groups = figures.read()
    all_figures = gallery.page(groups)
    kinds = {
        heading: [Entry(pages[one.path], [pages[path] for path in one.below]) for one in of_kind]
        for heading, of_kind in listed.items()
    }
    kinds[contents.KINDS["reference"]].append(Entry(all_figures))
    home = pages[contents.HOME]
    folder = root / "build" / "site"
    shutil.rmtree(folder, ignore_errors=True)
    _copy(
        {path: root / path for path in named}
        | gallery.files(groups)
        | {STYLE: HERE / STYLE.name, ARTICLE: paths.texts("*.css")[ARTICLE.name]},
        folder,
    )
    for page in (*pages.values(), all_figures):
        file = folder / page.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(whole(page, home, kinds), encoding="utf-8")
    return folder / home.path


def _page(written: text.Text) -> Page:
    sections = {name: head.text for name, head in written.headings.items() if head.level == 2}
    return Page(links.on_site(written.path), written.title, sections, written.html)


def _copy(files: Mapping[PurePosixPath, Path], folder: Path) -> None:
    for path, file in files.items():
        copy = folder / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
