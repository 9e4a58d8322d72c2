"""Taking memory from a kernel that nobody uses."""

from pathlib import Path

from pydantic import Field

from sciagent.contracts.model import Contract
from sciagent.contracts.quantity import measured_in

PAGE_OUT = """
def _sciagent_page_out():
    import ctypes, gc
    gc.collect()
    library = ctypes.CDLL(None, use_errno=True)
    library.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    with open("/proc/self/maps") as maps:
        lines = maps.read().splitlines()
    for line in lines:
        fields = line.split()
        if "p" in fields[1] and not fields[-1].startswith("[v"):
            first, last = (int(part, 16) for part in fields[0].split("-"))
            library.madvise(first, last - first, 21)
_sciagent_page_out()
del _sciagent_page_out
"""
"""Run by the kernel itself: gives each private mapping to the swap (MADV_PAGEOUT, madvise(2))."""

_SWAPS = Path("/proc/swaps")


class Pause(Contract):
    """What pausing an idle kernel came to."""

    before_mib: float = measured_in("MiBy", description="Resident memory of its processes.")
    after_mib: float = measured_in("MiBy", description="The same after the pause.")
    has_swap: bool = Field(description="Without swap nothing can be freed.")

    @property
    def freed_fraction(self) -> float:
        """Share of the resident memory that was freed."""
        return max(0.0, 1.0 - self.after_mib / self.before_mib) if self.before_mib else 0.0

    def __str__(self) -> str:
        if not self.has_swap:
            return f"no swap: nothing freed ({self.after_mib:.0f} MiB stay resident)"
        freed = f"{100 * self.freed_fraction:.0f} % freed"
        return f"resident memory {self.before_mib:.0f} -> {self.after_mib:.0f} MiB, {freed}"


def has_swap() -> bool:
    """Whether this machine has somewhere to put memory that is taken from a process."""
    try:
        return len(_SWAPS.read_text(encoding="ascii").splitlines()) > 1
    except OSError:
        return False
