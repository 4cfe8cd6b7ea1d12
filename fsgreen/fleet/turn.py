"""What one of many does at a time, while others are answered between."""

from __future__ import annotations

import asyncio


class Turn:
    """Lets one in, in a turn of the loop: `async with` waits for the next turn of its own."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    async def __aenter__(self) -> None:
        await self._lock.acquire()
        try:
            await asyncio.sleep(0)
        except BaseException:
            self._lock.release()
            raise

    async def __aexit__(self, *_why: object) -> None:
        self._lock.release()
