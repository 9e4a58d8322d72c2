"""``sciagent library`` and ``sciagent evidence`` at the terminal, without a network."""

import json

from tests.cli.terminal import Terminal

NOTE = "Fluorapatite crystals grew slowly from the melt. Their colour was green after a day."


def write_notes(terminal: Terminal) -> None:
    folder = terminal.folder / "papers"
    folder.mkdir()
    (folder / "note.md").write_text(NOTE)
    (folder / "bad.pdf").write_bytes(b"%PDF-1.4 broken")


def test_papers_are_added_found_listed_and_removed(terminal: Terminal) -> None:
    write_notes(terminal)
    added = terminal.type("library", "add", "papers", "--library", "own.sqlite")
    assert added.returncode == 1
    assert "1 added, 1 failed" in added.stdout
    assert "bad.pdf" in added.stderr
    found = terminal.type(
        "library", "search", "green fluorapatite", "--library", "own.sqlite", "--json"
    )
    (passage,) = json.loads(found.stdout)["passages"]
    assert (passage["page"], passage["text"]) == (1, NOTE)
    listed = terminal.type("library", "list", "--library", "own.sqlite")
    assert "Fluorapatite crystals" in listed.stdout or "note" in listed.stdout
    status = terminal.type("library", "status", "--library", "own.sqlite", "--json")
    assert json.loads(status.stdout)["documents"] == 1
    removed = terminal.type("library", "remove", "papers", "--library", "own.sqlite")
    assert removed.stdout.strip() == "1 removed"
    again = terminal.type("library", "remove", "papers", "--library", "own.sqlite")
    assert (again.returncode, again.stdout) == (2, "")
    assert "Nothing of papers is in the library" in again.stderr


def test_what_cannot_be_added_is_bad_input(terminal: Terminal) -> None:
    done = terminal.type("library", "add", "nowhere", "--library", "own.sqlite")
    assert done.returncode == 2
    assert "There is no" in done.stderr
    done = terminal.type("library", "search", "green", "--library", "own.sqlite")
    assert done.returncode == 2
    assert "no library" in done.stderr


def test_evidence_comes_from_the_own_library_alone(terminal: Terminal) -> None:
    write_notes(terminal)
    terminal.type("library", "add", "papers", "--library", "own.sqlite")
    terminal.variables["SCIAGENT_LIBRARY"] = str(terminal.folder / "own.sqlite")
    done = terminal.type("evidence", "colour of fluorapatite crystals", "--local-only", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["status"] == "completed"
    assert {each["page"] for each in told["passages"]} == {1}
    assert terminal.type("verify", told["run"]).returncode == 0
    nothing = terminal.type("evidence", "volcano", "--local-only", "--json")
    assert json.loads(nothing.stdout)["status"] == "abstained"
    assert nothing.returncode == 0


def test_without_anything_to_ask_evidence_is_bad_input(terminal: Terminal) -> None:
    done = terminal.type("evidence", "green", "--local-only")
    assert done.returncode == 2
    assert "sciagent library add" in done.stderr
    done = terminal.type("evidence", "green", "--replay", "nothing")
    assert done.returncode == 2
