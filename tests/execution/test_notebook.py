import os
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from sciagent.contracts.errors import InputError, LimitError, ResourceError
from sciagent.execution.notebook import CellError, kernel_answers, run_notebook


def notebook_of(folder: Path, *sources: str, tagged: int | None = None) -> Path:
    cells = [new_code_cell(source, id=f"c{number}") for number, source in enumerate(sources)]
    if tagged is not None:
        cells[tagged].metadata["tags"] = ["parameters"]
    path = folder / "source.ipynb"
    nbformat.write(new_notebook(cells=[new_markdown_cell("Words", id="words"), *cells]), path)
    return path


def statuses(path: Path) -> list[str]:
    cells = nbformat.read(path, as_version=4).cells
    return [cell.metadata["sciagent"]["status"] for cell in cells if cell.cell_type == "code"]


def text_of(path: Path, cell: int) -> str:
    return str(nbformat.read(path, as_version=4).cells[cell].outputs[0]["text"])


def test_a_notebook_runs_in_a_clean_kernel_with_its_parameters(tmp_path: Path) -> None:
    source = notebook_of(
        tmp_path,
        "a = 1\nb = [2]",
        "import os, pathlib, sciagent",
        "print(a, b, os.environ['OMP_NUM_THREADS'], pathlib.Path.cwd(), sciagent.__file__)",
        tagged=0,
    )
    before = source.read_bytes()
    work = tmp_path / "work"
    work.mkdir()
    run = run_notebook(source, tmp_path / "out.ipynb", {"a": "it's"}, timeout_s=60, directory=work)
    assert (run.status, run.cells, run.completed, run.sandbox) == (
        "completed", 4, 4, "unsandboxed",
    )  # fmt: skip
    assert source.read_bytes() == before
    package = Path(__file__).resolve().parents[2] / "sciagent" / "__init__.py"
    assert text_of(tmp_path / "out.ipynb", 4) == f"it's [2] 1 {work} {package}\n"
    assert statuses(tmp_path / "out.ipynb") == ["completed"] * 4
    written = nbformat.read(tmp_path / "out.ipynb", as_version=4)
    nbformat.validate(written)
    assert written.metadata["sciagent"]["execution"] == run.model_dump(mode="json")


def test_a_cell_that_raises_is_called_failed_and_those_behind_it_not_run(tmp_path: Path) -> None:
    source = notebook_of(tmp_path, "1", "1 / 0", "print('never')")
    with pytest.raises(CellError, match=r"Cell 3 \(c1\) failed. ZeroDivisionError"):
        run_notebook(source, tmp_path / "out.ipynb", {}, timeout_s=60, directory=tmp_path)
    assert statuses(tmp_path / "out.ipynb") == ["completed", "failed", "not run"]
    written = nbformat.read(tmp_path / "out.ipynb", as_version=4)
    assert written.metadata["sciagent"]["execution"]["status"] == "failed"
    assert written.cells[2].outputs[0]["ename"] == "ZeroDivisionError"
    assert written.cells[3].execution_count is None


def test_a_kernel_that_dies_is_noticed_and_its_cell_called_interrupted(tmp_path: Path) -> None:
    source = notebook_of(
        tmp_path, "print('alive', flush=True)", "import os, signal; os.kill(os.getpid(), 9)", "1"
    )
    with pytest.raises(ResourceError, match=r"died in Cell 3"):
        run_notebook(source, tmp_path / "out.ipynb", {}, timeout_s=60, directory=tmp_path)
    assert statuses(tmp_path / "out.ipynb") == ["completed", "interrupted", "not run"]
    assert text_of(tmp_path / "out.ipynb", 1) == "alive\n"


def test_time_is_counted_for_the_whole_notebook_and_partial_output_kept(tmp_path: Path) -> None:
    source = notebook_of(tmp_path, "print('so far', flush=True)\nimport time; time.sleep(60)", "1")
    with pytest.raises(LimitError, match="Cell 2"):
        run_notebook(source, tmp_path / "out.ipynb", {}, timeout_s=2, directory=tmp_path)
    assert statuses(tmp_path / "out.ipynb") == ["interrupted", "not run"]
    assert text_of(tmp_path / "out.ipynb", 1) == "so far\n"


@pytest.mark.parametrize("ending", ["1", "1 / 0"])
def test_no_kernel_outlives_its_notebook(tmp_path: Path, ending: str) -> None:
    source = notebook_of(tmp_path, "import os; print(os.getpid())", ending)
    output = tmp_path / "out.ipynb"
    try:
        run_notebook(source, output, {}, timeout_s=60, directory=tmp_path)
    except CellError:
        assert ending == "1 / 0"
    with pytest.raises(ProcessLookupError):
        os.kill(int(text_of(output, 1)), 0)


def test_start_up_files_of_the_user_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    startup = tmp_path / "ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "00.py").write_text("intruder = 1")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    source = notebook_of(tmp_path, "print('intruder' in globals())")
    run_notebook(source, tmp_path / "out.ipynb", {}, timeout_s=60, directory=tmp_path)
    assert text_of(tmp_path / "out.ipynb", 1) == "False\n"


def test_the_kernel_does_not_get_the_secrets_of_its_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "a-secret-value")
    source = notebook_of(tmp_path, "import os; print('SOME_API_KEY' in os.environ)")
    run_notebook(source, tmp_path / "out.ipynb", {}, timeout_s=60, directory=tmp_path)
    assert text_of(tmp_path / "out.ipynb", 1) == "False\n"


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b"\xff\xfe", b'{"cells": 3}'])
def test_a_file_that_is_no_notebook_is_refused_and_nothing_is_written(
    tmp_path: Path, content: bytes
) -> None:
    source = tmp_path / "source.ipynb"
    source.write_bytes(content)
    with pytest.raises(InputError, match="is not a notebook"):
        run_notebook(source, tmp_path / "out.ipynb", {}, timeout_s=60, directory=tmp_path)
    assert not (tmp_path / "out.ipynb").exists()


def test_the_kernel_of_this_interpreter_answers() -> None:
    assert kernel_answers() == ""
