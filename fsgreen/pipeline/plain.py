"""Tables of trials without a compression of their own: xz makes them half as large so.

A table of a trial is a Parquet file that Zstandard compresses, which xz makes no smaller. Here
nothing compresses it, its words are numbers of a dictionary, and of its integers the first bytes
stand together, then the second ones, and so on. A Parquet file names the PyArrow that wrote it, so
that only the same version makes the same bytes again.
"""

from __future__ import annotations

import io

LARGEST_VALUES = 1 << 24
"""Up to so many values a table is unpacked: those of trials have some 100,000 at most, and a file
of some bytes could ask for billions."""


def made_plain(table: bytes) -> bytes | None:
    """Return a table of a trial without compression; None if it would come back as other bytes."""
    # It is slow to import, and a run of the pipeline with nothing to do packs nothing.
    import pyarrow as pa
    import pyarrow.parquet as pq

    plain = io.BytesIO()
    try:
        read = pq.read_table(io.BytesIO(table))
        words = [field.name for field in read.schema if pa.types.is_large_string(field.type)]
        integers = [field.name for field in read.schema if pa.types.is_int64(field.type)]
        pq.write_table(
            read,
            plain,
            compression="none",
            write_statistics=False,
            use_dictionary=words,
            column_encoding=dict.fromkeys(integers, "BYTE_STREAM_SPLIT"),
        )
        made = plain.getvalue()
        return made if made_small(made) == table else None
    except (pa.ArrowException, OSError, ValueError):
        return None


def made_small(plain: bytes) -> bytes:
    """Return the table of a trial of which `made_plain` made this.

    Raises ValueError if this is no such table, or a larger one than any trial has.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    from fsgreen.trial.files import SMALL

    small = io.BytesIO()
    try:
        file = pq.ParquetFile(io.BytesIO(plain))
        groups = [file.metadata.row_group(at) for at in range(file.metadata.num_row_groups)]
        columns = [group.column(at) for group in groups for at in range(group.num_columns)]
        if sum(column.num_values for column in columns) > LARGEST_VALUES:
            raise ValueError("a table has more values than any of a trial")
        if any(column.compression != "UNCOMPRESSED" for column in columns):
            raise ValueError("a table is compressed, and none in a pack is")
        pq.write_table(file.read(), small, **SMALL)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"no table of a trial: {error}") from error
    return small.getvalue()
