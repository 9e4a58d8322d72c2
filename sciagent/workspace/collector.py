"""Python's search for reference cycles, put off while many objects that have none are made."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Let the search wait; it would walk over all events again and again while they are read.

    For a journal of 100,000 events this is the difference between one second and three.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
