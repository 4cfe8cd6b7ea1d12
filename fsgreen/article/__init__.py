"""The paper over all studies: question, answer, evidence and limits of each, as PDF and as HTML."""

from fsgreen.article.write import write

__all__ = ["write"]
