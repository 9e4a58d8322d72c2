"""The command line that puts a program into a bubblewrap sandbox.

The sandbox has no network but a loopback of its own, sees no process but its own, reads the
system and writes to nothing but the workspace and a bounded /tmp. The parts of a workspace by
which a run is steered and proven (journal, inbox, sources, trials) can only be read.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import sciagent
from sciagent.workspace.layout import (
    DATA,
    FIGURES,
    INBOX,
    JOURNAL,
    LOCK,
    REVIEWS,
    SOURCES,
    TRIALS,
    VERIFICATION,
)

_MIB = 1024 * 1024
_SYSTEM = ("/usr",)
_ALIASES = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_SETTINGS = (
    "/etc/alternatives",
    "/etc/fonts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/mime.types",
)
_BESIDE = ("datasets", "workflows", "pyproject.toml")
"""What lies beside the package in a checkout; the last tells that it is one."""
_READ_ONLY_FILES = (JOURNAL, LOCK, VERIFICATION, REVIEWS)
_READ_ONLY_FOLDERS = (INBOX, SOURCES, TRIALS)
_KEPT_FOLDERS = (DATA, FIGURES)
_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "RAYON_NUM_THREADS",
)


@dataclass(frozen=True, slots=True)
class Confinement:
    """What a sandbox shows of this machine, and how much of it may be used.

    Attributes
    ----------
    program
        Path of bubblewrap.
    workspace
        Folder that can be written, and working directory.
    runtime
        Folder of the kernel's connection file and sockets; nobody else's.
    read_only
        Folders and files that can be read, such as the user's data; also parts of the workspace.
    threads
        Threads that numerical libraries may use.
    tmp_mib
        Size of /tmp, and of /dev/shm.
    """

    program: str
    workspace: Path
    runtime: Path
    read_only: tuple[Path, ...] = ()
    threads: int = 1
    tmp_mib: int = 256


def bubblewrap_command(confinement: Confinement, command: Sequence[str]) -> list[str]:
    """Write the command line that runs `command` in a sandbox.

    Capabilities are dropped also for root, who could otherwise mount the system writable again.
    """
    return [
        confinement.program,
        "--unshare-user", "--unshare-all", "--die-with-parent", "--new-session",
        "--cap-drop", "ALL", "--hostname", "sandbox",
        *_system(confinement.tmp_mib * _MIB),
        *_installation(),
        *_workspace(confinement),
        *_variables(confinement),
        "--", *command,
    ]  # fmt: skip


def _system(tmp_bytes: int) -> Iterator[str]:
    for path in _SYSTEM:
        yield from ("--ro-bind", path, path)
    for alias in map(Path, _ALIASES):
        if alias.is_symlink():
            yield from ("--symlink", str(alias.readlink()), str(alias))
        elif alias.is_dir():
            yield from ("--ro-bind", str(alias), str(alias))
    for setting in _SETTINGS:
        yield from ("--ro-bind-try", setting, setting)
    yield from ("--proc", "/proc", "--dev", "/dev")
    for place in ("/tmp", "/dev/shm"):  # noqa: S108 - those of the sandbox
        yield from ("--size", str(tmp_bytes), "--tmpfs", place)


def _installation() -> Iterator[str]:
    for folder in _installed_folders():
        yield from ("--ro-bind", str(folder), str(folder))


def readable_folders() -> list[str]:
    """Folders and files of this machine that code may read: system, interpreter, packages."""
    system = [*_SYSTEM, *_ALIASES, *_SETTINGS]
    return [*system, *map(str, _installed_folders())]


def _installed_folders() -> Iterator[Path]:
    """List what holds the interpreter, its packages, and this package, each once."""
    package = Path(sciagent.__file__).resolve().parent
    around = [package.parent / name for name in _BESIDE]
    folders = [Path(sys.base_prefix), Path(sys.prefix), package, *around]
    shown: list[Path] = [Path(path) for path in _SYSTEM]
    for folder in folders:
        if folder.exists() and not any(folder.is_relative_to(each) for each in shown):
            shown.append(folder)
            yield folder


def _workspace(confinement: Confinement) -> Iterator[str]:
    """Show the workspace; what is a mount point of its own cannot be replaced by a link."""
    root = confinement.workspace
    inside = [path for path in confinement.read_only if path.is_relative_to(root)]
    for path in confinement.read_only:  # first, so that a folder around the workspace hides nothing
        if path not in inside:
            yield from ("--ro-bind", str(path), str(path))
    yield from ("--bind", str(root), str(root))
    for name in _KEPT_FOLDERS:
        if _is_own_folder(root / name):
            yield from ("--bind", str(root / name), str(root / name))
    for name in (*_READ_ONLY_FILES, *_READ_ONLY_FOLDERS):
        if (root / name).exists() and not (root / name).is_symlink():
            yield from ("--ro-bind", str(root / name), str(root / name))
    for path in inside:
        yield from ("--ro-bind", str(path), str(path))
    yield from ("--bind", str(confinement.runtime), str(confinement.runtime))
    # What was made to mount folders in is no place to write: nobody would see it.
    yield from ("--remount-ro", "/", "--chdir", str(root))


def _is_own_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def prepare_workspace(root: Path) -> None:
    """Make the folders of a workspace that a sandbox must find to protect them."""
    for name in (*_KEPT_FOLDERS, *_READ_ONLY_FOLDERS):
        (root / name).mkdir(exist_ok=True)


def _variables(confinement: Confinement) -> Iterator[str]:
    yield "--clearenv"
    for name, value in variables(confinement).items():
        yield from ("--setenv", name, value)


def variables(confinement: Confinement) -> dict[str, str]:
    """All environment variables that code sees; none of the user's is among them."""
    package = Path(sciagent.__file__).resolve().parents[1]
    return {
        "PATH": f"{Path(sys.prefix) / 'bin'}:/usr/local/bin:/usr/bin:/bin",
        "HOME": "/tmp",  # noqa: S108 - that of the sandbox
        "USER": "sandbox",
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(package),
        "PYTHONDONTWRITEBYTECODE": "1",
        "IPYTHONDIR": "/tmp/.ipython",  # noqa: S108 - that of the sandbox
        "MPLCONFIGDIR": "/tmp/.matplotlib",  # noqa: S108 - that of the sandbox
        **dict.fromkeys(_THREAD_VARIABLES, str(confinement.threads)),
    }
