"""The cockpit: a study composed, planned, measured and watched in widgets.

Everything that it does a command does, too, and by the same functions.
"""

from fsgreen.view.cockpit.cockpit import Cockpit

__all__ = ["Cockpit"]
