"""After a crash nothing with effects is repeated blindly."""

from pathlib import Path

from sciagent.contracts.events import EffectFinished, EffectStarted
from sciagent.workspace.effects import settle_interrupted, unfinished_effects
from sciagent.workspace.journal import JournalFile


def _journal(path: Path) -> JournalFile:
    journal = JournalFile.create(path / "events.jsonl")
    journal.append(EffectStarted(effect="read", tool="visit", read_only=True))
    journal.append(EffectStarted(effect="sent", tool="post", read_only=False), study="s")
    journal.append(EffectStarted(effect="done", tool="post", read_only=False))
    journal.append(EffectFinished(effect="done", status="ok"))
    return journal


def test_an_effect_whose_end_nobody_saw_is_journaled_as_interrupted(tmp_path: Path) -> None:
    with _journal(tmp_path) as journal:
        assert [body.effect for body in settle_interrupted(journal)] == ["sent"]
        last = list(journal.events())[-1]
        assert isinstance(last.body, EffectFinished)
        assert (last.body.effect, last.body.status, last.study) == ("sent", "interrupted", "s")


def test_a_read_only_effect_stays_open_so_that_it_is_run_again(tmp_path: Path) -> None:
    with _journal(tmp_path) as journal:
        settle_interrupted(journal)
        assert [body.effect for _, body in unfinished_effects(journal.events())] == ["read"]


def test_settling_twice_settles_once(tmp_path: Path) -> None:
    with _journal(tmp_path) as journal:
        settle_interrupted(journal)
        assert settle_interrupted(journal) == []
