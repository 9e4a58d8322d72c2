"""Effects that were begun and whose end nobody saw: what a crash leaves in the journal."""

from collections.abc import Iterable

from sciagent.contracts.events import EffectFinished, EffectStarted, Event
from sciagent.contracts.ports import Journal


def unfinished_effects(events: Iterable[Event]) -> list[tuple[str, EffectStarted]]:
    """List the effects that began and did not end, oldest first, each with its study."""
    begun: dict[str, tuple[str, EffectStarted]] = {}
    for event in events:
        if isinstance(event.body, EffectStarted):
            begun[event.body.effect] = (event.study, event.body)
        elif isinstance(event.body, EffectFinished):
            begun.pop(event.body.effect, None)
    return list(begun.values())


def settle_interrupted(journal: Journal) -> list[EffectStarted]:
    """Journal as interrupted what a dead owner left unfinished and must not be repeated blindly.

    Read-only effects are left as they are: whoever needs them runs them again.

    Returns
    -------
    list of EffectStarted
        The effects whose outcome is unknown.
    """
    unknown = [
        (study, body) for study, body in unfinished_effects(journal.events()) if not body.read_only
    ]
    for study, body in unknown:
        ended = EffectFinished(
            effect=body.effect,
            status="interrupted",
            detail="The owner died before the end was seen: the state is unknown.",
        )
        journal.append(ended, study=study)
    return [body for _, body in unknown]
