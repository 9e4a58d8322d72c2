"""Notebooks run in the sandbox, or say why not."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from papermill import execute_notebook

from sciagent.contracts.errors import InputError, SandboxError
from sciagent.execution.notebook import CellError
from sciagent.execution.notebook_file import ReplacedFolderError
from sciagent.execution.notebook_limits import NotebookLimits
from sciagent.execution.papermill_engine import run_with_papermill
from sciagent.execution.provisioner import RefusedSandboxError
from sciagent.execution.sandbox import sandbox_mode

pytestmark = [
    pytest.mark.skipif(
        sandbox_mode().mode != "bubblewrap", reason=f"no bubblewrap here: {sandbox_mode().remedy}"
    ),
    pytest.mark.xdist_group("sandbox"),
]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Where notebooks work; a folder `beside` lies beside it, with a file in it."""
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / "data.txt").write_text("measured")
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def notebook_of(work: Path, *sources: str, asks: Mapping[str, Any] | None = None) -> Path:
    cells = [new_code_cell(source) for source in ("a = 1", *sources)]
    cells[0].metadata["tags"] = ["parameters"]
    notebook = new_notebook(cells=cells)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "P", "language": "python"}
    notebook.metadata["sciagent"] = dict(asks or {})
    nbformat.write(notebook, work.parent / "source.ipynb")
    return work.parent / "source.ipynb"


def run(work: Path, *sources: str, a: Any = 2, **options: Any) -> str:
    """Run a notebook as campaigns do, and give what its last cell put out."""
    source = notebook_of(work, *sources)
    output = options.pop("output", work.parent / "out.ipynb")
    run_with_papermill(source, output, {"a": a}, directory=work, **options)
    return text_of(output)


def papermill(work: Path, *sources: str, asks: Mapping[str, Any] | None = None, **more: Any) -> str:
    """Run a notebook as somebody does who uses papermill, and give what its last cell put out."""
    source = notebook_of(work, *sources, asks=asks)
    output = work.parent / "out.ipynb"
    execute_notebook(
        source, output, more.pop("parameters", {"a": 2}), cwd=work, progress_bar=False,
        engine_name="sciagent", **more,
    )  # fmt: skip
    return text_of(output)


def text_of(output: Path) -> str:
    cells = nbformat.read(output, as_version=4).cells
    return "".join(each.get("text", "") for each in cells[-1].outputs)


def execution(work: Path) -> dict[str, Any]:
    metadata = nbformat.read(work.parent / "out.ipynb", as_version=4).metadata
    return dict(metadata["sciagent"]["execution"])


def test_a_notebook_writes_where_it_works_and_nowhere_else(work: Path) -> None:
    tries = """
open('kept.txt', 'w').write('kept')
for path in ('../lost.txt', '../beside/lost.txt', '/usr/lost.txt'):
    try:
        open(path, 'w').write('lost')
    except OSError as error:
        print(type(error).__name__)
"""
    assert run(work, tries) == "PermissionError\nFileNotFoundError\nOSError\n"
    assert (work / "kept.txt").read_text() == "kept"
    assert execution(work)["sandbox"] == str(sandbox_mode())
    assert sorted(path.name for path in work.parent.iterdir()) == [
        "beside", "out.ipynb", "source.ipynb", "work",
    ]  # fmt: skip


def test_what_a_parameter_names_can_be_read_and_not_changed(work: Path) -> None:
    tries = "print(open(a[0]).read(), end='')\nopen(a[0], 'w')"
    with pytest.raises(CellError, match="Read-only file system") as raised:
        run(work, tries, a=["../beside/data.txt", "no file"])
    assert "The notebook ran in a sandbox" in raised.value.remedy
    assert execution(work)["readable"] == [str(work.parent / "beside" / "data.txt")]
    assert (work.parent / "beside" / "data.txt").read_text() == "measured"


def test_a_folder_named_by_a_parameter_stays_writable_where_the_notebook_works(work: Path) -> None:
    (work / "results").mkdir()
    run(work, "open(a + '/out.txt', 'w').write('out')", a="results")
    assert (work / "results" / "out.txt").read_text() == "out"


def test_what_holds_the_folder_of_the_notebook_can_be_readable_too(work: Path) -> None:
    code = "open('made', 'w').close(); print(open('../beside/data.txt').read())"
    assert run(work, code, readable=(Path(".."),)) == "measured\n"
    assert (work / "made").exists()


def test_the_metadata_of_the_notebook_name_what_is_readable(work: Path) -> None:
    code = "print(open('../beside/data.txt').read())"
    assert papermill(work, code, asks={"readable": ["../beside"]}) == "measured\n"


def test_a_missing_file_and_a_refused_connection_are_put_down_to_the_sandbox(work: Path) -> None:
    ask = "import socket; socket.create_connection(('127.0.0.1', 9), timeout=5)"
    for code in ("open('../beside/data.txt')", ask, "import no_such_module"):
        with pytest.raises(CellError) as raised:
            run(work, code)
        assert f"only {work} writable" in raised.value.remedy
    with pytest.raises(CellError) as raised:
        run(work, "1 / 0")
    assert "sandbox" not in raised.value.remedy


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["/"], "holds your whole home"),
        (["~"], "holds your whole home"),
        (["~/.ssh"], "hidden in your home"),
        (["/etc"], "belongs to the system"),
        (["../nothing"], "is not there"),
        ("../beside", "cannot be made"),
    ],
)
def test_what_must_not_be_readable_is_refused(
    work: Path, monkeypatch: pytest.MonkeyPatch, names: Any, said: str
) -> None:
    home = work.parent / "home"
    (home / ".ssh").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    asks = json.loads(json.dumps(names).replace("~", str(home)))
    with pytest.raises(InputError, match=said):
        papermill(work, asks={"readable": asks})


def test_a_parameter_that_names_too_much_opens_nothing(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = work.parent / "home"
    (home / ".ssh").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    code = "import os; print([os.path.exists(each) for each in a])"
    names = [str(home / ".ssh"), str(home), "/etc/passwd"]
    assert run(work, code, a=names) == "[False, False, False]\n"
    assert execution(work)["readable"] == []


def test_a_notebook_does_not_work_in_the_home_of_the_user(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(work))
    with pytest.raises(RefusedSandboxError, match="holds your whole home"):
        run(work, "1")
    assert papermill(work, "print(a)") == "2\n"
    assert execution(work)["sandbox"].startswith("unsandboxed: it works in a folder")


def test_a_foreign_kernel_is_never_called_sandboxed(
    work: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    spec = {"argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]}
    folder = work.parent / "jupyter" / "kernels" / "foreign"
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text(
        json.dumps({**spec, "display_name": "Foreign", "language": "python"})
    )
    monkeypatch.setenv("JUPYTER_PATH", str(work.parent / "jupyter"))
    monkeypatch.setenv("SOME_API_KEY", "a-secret-value")
    code = "import os; print('SOME_API_KEY' in os.environ)"
    assert papermill(work, code, kernel_name="foreign") == "False\n"
    why = "the kernel foreign is not of this interpreter"
    assert execution(work)["sandbox"] == f"unsandboxed: {why}"
    assert why in caplog.text
    with pytest.raises(SandboxError, match="cannot be sandboxed"):
        papermill(work, code, kernel_name="foreign", sandbox=True)
    papermill(work, code, kernel_name="foreign", sandbox=True, allow_unsandboxed=True)


def test_the_notebook_may_ask_to_run_unsandboxed_unless_the_caller_decides(work: Path) -> None:
    code = "import os; print(os.path.exists('../beside'))"
    assert papermill(work, code, asks={"sandbox": False}) == "True\n"
    assert execution(work)["sandbox"] == "unsandboxed: so it was asked for"
    assert papermill(work, code, asks={"sandbox": False}, sandbox=True) == "False\n"


@pytest.mark.parametrize("sandbox", [True, False])
def test_no_kernel_gets_the_secrets_of_its_caller(
    work: Path, monkeypatch: pytest.MonkeyPatch, sandbox: bool
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "a-secret-value")
    code = "import os; print('a-secret-value' in str(os.environ))"
    if sandbox:
        # All processes that can be seen: none of the caller's is among them.
        code = """
import pathlib
told = [path.read_bytes() for path in pathlib.Path('/proc').glob('[0-9]*/environ')]
print(any(b'a-secret-value' in each for each in told))
"""
    assert run(work, code, sandbox=sandbox) == "False\n"


@pytest.mark.parametrize("sandbox", [True, False])
def test_figures_tables_and_modules_beside_the_notebook_work(work: Path, sandbox: bool) -> None:
    (work / "mine.py").write_text("number = 7")
    (work / "token.py").write_text("raise RuntimeError('not the library')")
    code = """
import mine, sciagent_toy
import matplotlib.pyplot as plt
from IPython.display import HTML, display
plt.plot([1, mine.number]); plt.show()
display(HTML('<table></table>'))
"""
    plugin = work.parent / "plugins"
    plugin.mkdir()
    (plugin / "sciagent_toy.py").write_text("")
    inherited = os.environ.get("PYTHONPATH", "")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([inherited, str(plugin)]))
        run(work, code, sandbox=sandbox)
    outputs = nbformat.read(work.parent / "out.ipynb", as_version=4).cells[-1].outputs
    kinds = {kind for each in outputs for kind in each.get("data", {})}
    assert {"image/png", "text/html"} <= kinds


def test_the_executed_notebook_is_written_through_no_link(work: Path) -> None:
    precious = work.parent / "beside" / "data.txt"
    code = f"import os; os.remove('out.ipynb'); os.symlink({str(precious)!r}, 'out.ipynb')"
    run(work, code, "1", output=work / "out.ipynb")
    assert precious.read_text() == "measured"
    assert not (work / "out.ipynb").is_symlink()


def test_a_notebook_that_replaces_the_folder_of_its_output_is_refused(work: Path) -> None:
    (work / "sub").mkdir()
    beside = str(work.parent / "beside")
    code = f"import os; os.rename('sub', 'moved'); os.symlink({beside!r}, 'sub')"
    with pytest.raises(ReplacedFolderError, match="replaced"):
        run(work, code, output=work / "sub" / "out.ipynb")
    assert [path.name for path in (work.parent / "beside").iterdir()] == ["data.txt"]


def test_too_little_memory_for_a_sandbox_is_refused(work: Path) -> None:
    with pytest.raises(InputError, match="too little"):
        run(work, "1", limits=NotebookLimits(memory_mib=10))
