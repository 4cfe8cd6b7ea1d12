"""fsgreen: which file system, options and scheduler do most work per joule, and is it true?"""

__version__ = "0.1.0"
