"""Recipes: the tables that known programs write, each a set of settings of the driver `table`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import create_model

from fsgreen.meters.core.base import Importer
from fsgreen.meters.table.declared import TableSettings
from fsgreen.meters.table.driver import read

FILE = Path(__file__).with_name("recipes.toml")


@cache
def recipes() -> Mapping[str, Importer]:
    """Return the reader of each program's table, by the name of the recipe."""
    tables = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return {name: _importer(name, **table) for name, table in tables.items()}


def _importer(name: str, summary: str, **table: Any) -> Importer:
    """Return a reader whose settings have those of a table as defaults."""
    sound = TableSettings.of({"gain_error": 0.0, **table, "name": name, "driver": name})
    fields = {key: (TableSettings.model_fields[key], getattr(sound, key)) for key in table}
    defaults: dict[str, Any] = {
        key: (field.rebuild_annotation(), default) for key, (field, default) in fields.items()
    }
    settings = create_model(name, __base__=TableSettings, **defaults)
    return Importer(name=name, summary=summary, settings=settings, read=read)
