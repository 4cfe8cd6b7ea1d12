"""XML from others, read with limits and without any entity of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

DEEPEST = 32
MOST_ELEMENTS = 500_000


@dataclass
class Element:
    """An element: its name, the parts of its text without that of inner elements, and these."""

    name: str
    parts: list[str] = field(default_factory=list)
    inner: list[Element] = field(default_factory=list)

    def all(self, name: str) -> Iterator[Element]:
        """Yield the inner elements of a name."""
        return (element for element in self.inner if element.name == name)

    def value(self, name: str) -> str:
        """Return the text of the first inner element of a name; empty if there is none."""
        return next(("".join(element.parts).strip() for element in self.all(name)), "")


def parse(text: str) -> Element:
    """Return the root element.

    Raises
    ------
    ValueError
        If it is no XML, declares a document type (entities live there), or is deeper or larger
        than any result file.
    """
    if "<!DOCTYPE" in text:
        raise ValueError("it declares a document type, which no result file does")
    root = Element("")
    path = [root]
    count = 0

    def start(name: str, _attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > MOST_ELEMENTS or len(path) > DEEPEST:
            raise ValueError("it has more elements, or deeper ones, than any result file")
        element = Element(name)
        path[-1].inner.append(element)
        path.append(element)

    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _name: path.pop()
    parser.CharacterDataHandler = lambda data: path[-1].parts.append(data)
    try:
        parser.Parse(text.encode(), True)
    except expat.ExpatError as error:
        raise ValueError(f"it is no XML: {error}") from error
    return root.inner[0]
