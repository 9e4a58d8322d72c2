"""One event loop for all kernels of this process, in a thread of its own."""

import asyncio
import atexit
import threading
from collections.abc import Awaitable
from functools import cache
from typing import TypeVar

Result = TypeVar("Result")


def wait_for(work: Awaitable[Result]) -> Result:
    """Carry asynchronous work out from any thread that is not the loop's own."""

    async def carried_out() -> Result:
        return await work

    return asyncio.run_coroutine_threadsafe(carried_out(), _loop()).result()


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="kernel-loop", daemon=True)
    thread.start()

    def end() -> None:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    atexit.register(end)
    return loop
