"""The course kit: what the notebooks of `notebooks/labs` show, and how they check an answer.

A lab has a room of its own, with its data and its tasks. A task knows its right answer and the
numbers that typical mistakes lead to (`feedback`); a check names the mistake, and never the answer.
`versions` makes the notebooks for students and those with solutions from the instructor's.
"""
