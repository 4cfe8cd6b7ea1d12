"""Files that people write, read through a schema: an error names file, line and the nearest key.

A schema is a class below `Declared`.
"""

from fsgreen.schema.document import Document
from fsgreen.schema.faults import WORDS, Fault, Place, faults_of
from fsgreen.schema.reading import plain, read
from fsgreen.schema.values import Count, Declared, NotNegative, Positive, Strict, Whole, taking

__all__ = [
    "WORDS",
    "Count",
    "Declared",
    "Document",
    "Fault",
    "NotNegative",
    "Place",
    "Positive",
    "Strict",
    "Whole",
    "faults_of",
    "plain",
    "read",
    "taking",
]
