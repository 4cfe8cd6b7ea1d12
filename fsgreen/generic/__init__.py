"""What any study gets: figures, tables, and a report under its own title.

A published study has a room in `papers` for what is particular to it.
"""
