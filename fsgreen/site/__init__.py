"""The documentation as a site: pages of Markdown by kind, and a gallery of all figures.

Nothing in it needs a script or the network, and every link between its pages is checked.
"""

from fsgreen.site.write import write

__all__ = ["write"]
