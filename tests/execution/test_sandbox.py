import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sciagent.contracts.errors import InputError
from sciagent.execution.code_runner import CodeSettings, KernelPool
from sciagent.execution.landlock import landlock_version
from sciagent.execution.sandbox import probed, sandbox_mode
from sciagent.execution.session import KernelSettings
from sciagent.testing.escapes.attempts import ATTEMPTS
from sciagent.testing.escapes.ground import LIMITS, Ground, attempts_in_sandbox, ground
from sciagent.workspace.journal import JournalFile

pytestmark = [
    pytest.mark.skipif(
        not sandbox_mode().is_confined, reason=f"no sandbox here: {sandbox_mode().remedy}"
    ),
    pytest.mark.xdist_group("sandbox"),
]


@pytest.fixture(scope="module")
def place() -> Iterator[Ground]:
    with ground() as made:
        yield made


def test_no_attempt_gets_out_of_the_sandbox(place: Ground) -> None:
    assert len(ATTEMPTS) >= 30
    reports = attempts_in_sandbox(place)
    assert [each.attempt for each in reports] == [each.name for each in ATTEMPTS]
    assert {each.attempt: each.escaped for each in reports if each.escaped} == {}
    made = [each for each in reports if not each.skipped]
    assert len(made) >= 30
    if os.geteuid() == 0 and place.has_namespace:
        assert len(made) == len(ATTEMPTS)


def test_the_harmless_attempts_succeed_where_there_is_no_sandbox(place: Ground) -> None:
    harmless = [each for each in ATTEMPTS if each.works_outside]
    if not place.has_namespace:
        harmless = [each for each in harmless if each.needs != "namespace"]
    failed = [each.name for each in harmless if not place.unconfined(each).escaped]
    assert len(harmless) >= 8
    assert failed == []


def test_a_program_that_confines_nothing_is_not_taken_for_a_sandbox(tmp_path: Path) -> None:
    pretender = tmp_path / "bwrap"
    pretender.write_text('#!/bin/sh\nwhile [ "$1" != "--chdir" ]; do shift; done\ncd "$2"\n'
                         'while [ "$1" != "--" ]; do shift; done\nshift\nexec "$@"\n')  # fmt: skip
    pretender.chmod(0o755)
    mode = probed([str(pretender)], landlock=False)
    assert not mode.is_confined
    assert "files outside could be written" in mode.detail


def test_a_program_that_fails_is_passed_over_and_its_trouble_is_told() -> None:
    mode = probed(["/bin/false", sandbox_mode().program])
    assert mode.is_confined
    alone = probed(["/bin/false"], landlock=False)
    assert alone.mode == "unsandboxed"
    assert "/bin/false" in alone.detail
    assert alone.remedy


def test_without_any_program_the_remedy_is_to_install_one() -> None:
    mode = probed([], landlock=False)
    assert str(mode).startswith("unsandboxed: code runs as you")
    assert "apt-get install bubblewrap" in mode.remedy


FILES_ONLY = {
    "read a secret file", "read the owner's environment", "read the password hashes",
    "read the connection file of another run", "go through /proc to another root",
    "write beside the workspace", "write over a file outside", "write to /usr",
    "mount the system writable", "forge the journal", "put a link in place of the inbox",
    "read the memory of the owner", "trace a process outside",
}  # fmt: skip
PROGRAM = """
import sys
from pathlib import Path
from sciagent.contracts.errors import SandboxError
from sciagent.execution.sandbox import probed
from sciagent.execution.session import KernelSession, KernelSettings
root, agreed = Path(sys.argv[1]), sys.argv[2] == "agreed"
nothing = probed([], landlock=False)
settings = KernelSettings(workspace=root, sandbox=nothing, allow_unsandboxed=agreed)
session = KernelSession(settings)
try:
    session.start()
    session.execute("open('ran', 'w').close()", lambda _: None, lambda: "")
except SandboxError as error:
    sys.exit(f"{error.kind} {error}")
finally:
    session.close()
"""


@pytest.mark.parametrize("answer", ["asked nobody", "agreed"])
def test_code_runs_unsandboxed_only_where_a_person_agreed(tmp_path: Path, answer: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path), answer],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (tmp_path / "ran").exists() == (answer == "agreed")
    if answer != "agreed":
        assert "sandbox.unavailable No code is run: there is no sandbox here" in ended.stderr


@pytest.mark.skipif(landlock_version() == 0, reason="this system has no Landlock")
def test_landlock_confines_files_and_is_labelled_as_the_weaker_sandbox(place: Ground) -> None:
    mode = probed([])
    assert mode.mode == "landlock"
    assert "files only" in mode.detail
    assert mode.remedy
    root = place.workspace.parent / "by-landlock"
    root.mkdir()
    with JournalFile.create(root / "events.jsonl") as journal:
        settings = CodeSettings(KernelSettings(workspace=root, sandbox=mode, limits=LIMITS))
        pool = KernelPool(journal, settings)
        try:
            runner = pool.runner("main")
            assert runner.run("open('data/x', 'w').write('1')").output == "1"
            assert "Permission denied" in runner.run("open('inbox/0.json', 'w')").output
            tried = [each for each in ATTEMPTS if each.name in FILES_ONLY]
            reports = [place.confined(each, runner) for each in tried]
        finally:
            pool.close()
    assert len(reports) == len(FILES_ONLY)
    assert {each.attempt: each.escaped for each in reports if each.escaped} == {}


def test_data_of_the_user_can_be_read_and_not_written(tmp_path: Path) -> None:
    data, root = tmp_path / "measured", tmp_path / "run"
    data.mkdir()
    root.mkdir()
    (data / "scan.xy").write_text("1 2\n")
    with JournalFile.create(root / "events.jsonl") as journal:
        kernel = KernelSettings(workspace=root, read_only=(data,))
        pool = KernelPool(journal, CodeSettings(kernel))
        try:
            read = pool.runner("main").run(f"print(open('{data}/scan.xy').read())")
            written = pool.runner("main").run(f"open('{data}/scan.xy', 'w')")
        finally:
            pool.close()
    assert (read.status, read.output) == ("ok", "1 2")
    assert "Read-only file system" in written.output
    assert (data / "scan.xy").read_text() == "1 2\n"


def test_read_only_data_that_does_not_exist_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no"):
        KernelSettings(workspace=tmp_path, read_only=(tmp_path / "nothing",)).require_existing()


def test_the_provisioner_serves_kernels_that_others_start(tmp_path: Path) -> None:
    specs = tmp_path / "kernels" / "confined"
    specs.mkdir(parents=True)
    spec = {
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "confined", "language": "python", "interrupt_mode": "message",
        "metadata": {"kernel_provisioner": {"provisioner_name": "sciagent-sandbox"}},
    }  # fmt: skip
    (specs / "kernel.json").write_text(json.dumps(spec))
    program = (
        "import sys, nbformat, nbclient\n"
        "from sciagent.execution.provisioner import register_provisioner\n"
        "register_provisioner()\n"
        "code = 'import os; print(os.path.exists(\"/etc/hostname\"), os.getcwd())'\n"
        "nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])\n"
        "nbclient.NotebookClient(nb, kernel_name='confined', timeout=60,\n"
        "    resources={'metadata': {'path': sys.argv[1]}}).execute()\n"
        "sys.stdout.write(nb.cells[0].outputs[0].text)\n"
    )
    root = tmp_path / "run"
    root.mkdir()
    ended = subprocess.run(
        [sys.executable, "-c", program, str(root)],
        env={**os.environ, "JUPYTER_PATH": str(tmp_path)},
        capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert ended.stdout.split()[-2:] == ["False", str(root)], ended.stderr
