"""What works on this machine, and how to mend what does not."""

import importlib.util
import os
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from sciagent.contracts.errors import InputError
from sciagent.contracts.run import DoctorItem
from sciagent.domains.registry import domains
from sciagent.execution.network import place_of
from sciagent.execution.notebook import kernel_answers
from sciagent.execution.pausing import has_swap
from sciagent.execution.sandbox import sandbox_mode
from sciagent.llm.probe import probe
from sciagent.runs.configuration import (
    Asked,
    configuration_file,
    configured_endpoint,
    load_configuration,
)
from sciagent.runs.retrieval import library_place

_GIB = 1024**3
_LOW_SPACE_GIB = 2.0


def doctor(out: str | Path = "artifacts", *, asked: Asked | None = None) -> list[DoctorItem]:
    """Look at the interpreter, the fields' engines, the notebook kernel, the disk and the model.

    Parameters
    ----------
    out
        Folder of the runs.
    asked
        Settings over those of the configuration file and the environment, by their dotted
        names. An endpoint is looked at only if it stands in one of the three.
    """
    return [
        _python(),
        *_engines(),
        _kernel(),
        _bytecode(),
        _sandbox(),
        _pausing(),
        _cluster(),
        _disk(Path(out)),
        *_literature(asked or {}),
        *_model(asked or {}),
    ]


def _literature(asked: Asked) -> Iterator[DoctorItem]:
    """Say which literature can be asked, without asking it."""
    try:
        settings = load_configuration(asked).literature
    except InputError:
        return  # what is wrong with the configuration is said below
    place = library_place(settings)
    if place.is_file():
        yield DoctorItem(name="Own library", status="ok", detail=f"{place}")
    else:
        yield DoctorItem(
            name="Own library", status="warning", detail="there is none",
            remedy="sciagent library add FOLDER",
        )  # fmt: skip
    if settings.mode == "offline":
        yield DoctorItem(name="Literature online", status="ok", detail="not asked: mode offline")
        return
    wanting = {
        "a search of the web (SCIAGENT_SEARXNG_URL)": not settings.addresses.get("searxng"),
        f"OpenAlex ({settings.api_key_variable('openalex')})": not settings.api_key("openalex"),
        "Unpaywall (SCIAGENT_CONTACT)": not settings.contact,
    }
    without = [name for name, lacks in wanting.items() if lacks]
    detail = "Crossref, arXiv, Europe PMC and Semantic Scholar need no key"
    if without:
        yield DoctorItem(
            name="Literature online", status="warning", detail=detail,
            remedy=f"To add {', '.join(without)}, set these variables.",
        )  # fmt: skip
    else:
        yield DoctorItem(name="Literature online", status="ok", detail=detail)


def _model(asked: Asked) -> Iterator[DoctorItem]:
    """Look at the configuration, and at the endpoint if one is configured."""
    try:
        endpoint = configured_endpoint(asked)
        if endpoint is not None:
            place_of(endpoint.base_url)
    except InputError as error:
        yield DoctorItem(
            name="Configuration", status="missing", detail=error.message, remedy=error.remedy
        )
        return
    path = configuration_file()
    detail = f"read from {path}" if path.is_file() else f"no file {path}; none is needed"
    yield DoctorItem(name="Configuration", status="ok", detail=detail)
    if endpoint is not None:
        yield from probe(endpoint)


def _python() -> DoctorItem:
    found = ".".join(str(part) for part in sys.version_info[:3])
    return DoctorItem(name="Python", status="ok", detail=f"{found} at {sys.executable}")


def _engines() -> Iterator[DoctorItem]:
    for domain in domains():
        packages = sorted({name for question in domain.questions for name in question.packages})
        missing = [name for name in packages if not _installed(name)]
        if missing:
            yield DoctorItem(
                name=domain.title,
                status="missing",
                detail=f"not installed: {', '.join(missing)}",
                remedy=f"pip install 'sciagent[{domain.extra}]'",
            )
        else:
            engines = ", ".join(f"{name} {version(name)}" for name in packages)
            yield DoctorItem(name=domain.title, status="ok", detail=engines or "no engine needed")


def _kernel() -> DoctorItem:
    trouble = kernel_answers()
    if trouble:
        return DoctorItem(
            name="Notebook kernel", status="missing", detail=trouble,
            remedy="pip install ipykernel; `sciagent verify --rerun` needs it",
        )  # fmt: skip
    return DoctorItem(name="Notebook kernel", status="ok", detail="started and answered")


def _bytecode() -> DoctorItem:
    spec = importlib.util.find_spec("numpy")
    folder = Path(spec.origin).parent / "__pycache__" if spec and spec.origin else None
    if folder is not None and any(folder.glob("*.pyc")):
        return DoctorItem(name="Compiled bytecode", status="ok", detail="present")
    return DoctorItem(
        name="Compiled bytecode", status="warning",
        detail="missing: every start of a kernel or worker takes about twice as long",
        remedy=f"{sys.executable} -m compileall -q {sysconfig.get_path('purelib')}",
    )  # fmt: skip


def _sandbox() -> DoctorItem:
    mode = sandbox_mode()
    studies = "fields of science run as yourself, unconfined: every report says so"
    return DoctorItem(
        name="Sandbox", status="warning" if mode.remedy else "ok",
        detail=f"code of agents: {mode}; {studies}", remedy=mode.remedy,
    )  # fmt: skip


def _pausing() -> DoctorItem:
    if has_swap():
        return DoctorItem(
            name="Pausing kernels",
            status="ok",
            detail="the memory of idle kernels goes to the swap",
        )
    return DoctorItem(
        name="Pausing kernels", status="warning",
        detail="no swap: a paused kernel keeps its memory",
        remedy="add swap, or let idle kernels be saved to files with `offload`",
    )  # fmt: skip


def _cluster() -> DoctorItem:
    if _installed("parsl"):
        detail = f"Parsl {version('parsl')}: `sciagent batch --engine parsl`"
        return DoctorItem(name="Clusters", status="ok", detail=detail)
    return DoctorItem(
        name="Clusters", status="ok", detail="no Parsl: campaigns run on this machine",
        remedy="pip install 'sciagent[cluster]'",
    )  # fmt: skip


def _disk(out: Path) -> DoctorItem:
    folder = next(path for path in (out.resolve(), *out.resolve().parents) if path.exists())
    free_gib = shutil.disk_usage(folder).free / _GIB
    if not os.access(folder, os.W_OK):
        return DoctorItem(
            name="Workspaces", status="missing", detail=f"{folder} cannot be written",
            remedy="choose another folder with --out",
        )  # fmt: skip
    with tempfile.TemporaryFile(dir=folder):
        low = free_gib < _LOW_SPACE_GIB
    return DoctorItem(
        name="Workspaces", status="warning" if low else "ok",
        detail=f"{free_gib:.1f} GiB free in {folder}",
        remedy="free some space, or choose another folder with --out" if low else "",
    )  # fmt: skip


def _installed(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True
