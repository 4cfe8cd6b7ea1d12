"""A worker, as home asks it."""

from __future__ import annotations

from typing import Any

from fsgreen.errors import FsgreenError
from fsgreen.fleet.messages import Message, Refusal, parsed
from fsgreen.schema import Strict


class Lost(Exception):
    """A worker that does not answer any more."""


class Remote:
    """A worker of a fleet, or a core that is lent.

    `rpc` is Dask's connection to it, and `name` what errors call it.
    """

    def __init__(self, rpc: Any, name: str) -> None:
        self._rpc, self._name = rpc, name

    async def ask(self, task: str, arguments: Strict, schema: type[Message]) -> Message:
        """Have it do a task, and return its answer.

        Raises FsgreenError if it refuses, or answers something else. Raises Lost if it does not
        answer any more.
        """
        try:
            answer = await self._rpc.fsgreen(task=task, arguments=arguments.model_dump())
        except OSError as error:
            raise Lost(str(error)) from error
        except FsgreenError:
            raise
        except Exception as error:  # whatever Dask makes of bytes that are no message
            raise FsgreenError(
                f"{self._name} sent what cannot be read: {error!r}",
                where=self._name,
                next_step="have the same version of fsgreen on both machines",
            ) from error
        if isinstance(answer, dict) and "refused" in answer:
            raise parsed(Refusal, answer["refused"], self._name).error()
        return parsed(schema, answer.get("done") if isinstance(answer, dict) else None, self._name)
