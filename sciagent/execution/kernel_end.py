"""A kernel that ends when it is told to.

While ipykernel closes its sockets, its control thread can wait for a channel that nobody reads any
more; the process then hangs until it is killed seconds later.
"""

import atexit
import gc
import logging
import signal
from collections.abc import Callable

_PATIENCE_S = 0.15


def start_kernel(begin: Callable[[], None] = lambda: None) -> None:
    """Become an IPython kernel, as the command line says; `begin` comes before any code of users.

    Parameters
    ----------
    begin
        Called once the kernel is made and has not heard of anything to execute.
    """
    # Nothing of what a kernel is made of is garbage, but it would be looked through many times.
    gc.disable()
    from ipykernel.kernelapp import IPKernelApp

    application = IPKernelApp.instance()
    application.initialize()  # type: ignore[no-untyped-call]
    gc.freeze()
    gc.enable()
    # It would complain of each interrupt, also of the one that comes before its end.
    application.log_level = logging.CRITICAL
    # Handlers run in reverse: those of the user's code first, then this, then ipykernel's own.
    atexit.register(_end_soon)
    begin()
    application.start()  # type: ignore[no-untyped-call]


def _end_soon() -> None:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, _PATIENCE_S)
