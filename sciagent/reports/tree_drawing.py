"""A study's tree as rows with rails: the accepted path straight down, what was tried beside it.

A row is one trial. Its rails are one word per lane, from the left:

``pass``    a line from above to below that belongs to an earlier trial
``gap``     nothing
``tee``     such a line, with a branch to the right
``corner``  the end of such a line, with a branch to the right

and the last lane is the trial itself.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from pydantic import JsonValue

from sciagent.contracts.model import canonical_json
from sciagent.contracts.quantity import rounded
from sciagent.contracts.study import Action, Objective
from sciagent.contracts.tree import StudyRecord, Trial
from sciagent.reports.digits import readable, readable_decimals, with_unit

MOST_LANES = 8
COLLAPSE_ABOVE_TRIALS = 80
COLLAPSE_FROM_SIBLINGS = 3
MOST_GROUPED_ROWS = 600
MOST_ROWS = 400
_SHORT_CHARACTERS = 72
_FINEST_NOISE = 1e-6


@dataclass(frozen=True, slots=True)
class TreeRow:
    """One trial as it is drawn.

    Attributes
    ----------
    rails
        What is drawn in the lanes left of the trial's own.
    from_above, to_below
        Whether the trial's own lane is drawn above and below it.
    state
        ``accepted``, ``best``, ``rejected``, ``superseded``, ``invalidated``, ``failed`` or
        ``open``.
    """

    number: int
    rails: tuple[str, ...]
    from_above: bool
    to_below: bool
    state: str
    on_path: bool
    action: str
    objective: str
    reason: str


@dataclass(frozen=True, slots=True)
class TreeGroup:
    """Rows drawn one by one, or folded into one line."""

    rows: tuple[TreeRow, ...]
    folded: str = ""
    rails: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Place:
    trial: Trial
    lane: int
    open_lanes: tuple[bool, ...]
    is_branch: bool


@dataclass(slots=True)
class _Tree:
    study: StudyRecord
    by_number: dict[int, Trial] = field(default_factory=dict)
    children: dict[int | None, list[Trial]] = field(default_factory=lambda: defaultdict(list))
    path: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.by_number = {trial.number: trial for trial in self.study.trials}
        for trial in sorted(self.study.trials, key=lambda each: each.number):
            parent = trial.proposal.parent
            self.children[parent if parent in self.by_number else None].append(trial)
        self.path = set(path_of(self.study))

    def next_of(self, number: int | None) -> Trial | None:
        """The child that goes on in the same lane."""
        children = self.children.get(number, [])
        on_path = [child for child in children if child.number in self.path]
        accepted = [child for child in children if child.accepted]
        return next(iter([*on_path, *reversed(accepted)]), None)


def path_of(study: StudyRecord) -> tuple[int, ...]:
    """Trials from the first to the best one, or to the head where there is no best."""
    by_number = {trial.number: trial for trial in study.trials}
    number = study.best if study.best is not None else study.head
    path: list[int] = []
    while number is not None and number in by_number:
        path.append(number)
        number = by_number[number].proposal.parent
    return tuple(reversed(path))


def action_in_words(action: Action) -> str:
    """An action with its arguments on one short line; a single argument needs no name."""
    values = {name: _in_words(value) for name, value in action.arguments.items()}
    if len(values) == 1:
        return shortened(f"{action.name} {next(iter(values.values()))}")
    named = ", ".join(f"{name} = {value}" for name, value in values.items())
    return shortened(f"{action.name} {named}".strip())


def _in_words(value: JsonValue) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(each, str | int | float) for each in value):
        return ", ".join(str(each) for each in value)
    return canonical_json(value)


def shortened(text: str, length: int = _SHORT_CHARACTERS) -> str:
    """Text on one line, cut behind `length` characters."""
    text = " ".join(text.split())
    return text if len(text) <= length else f"{text[: length - 1].rstrip()}…"


def state_of(trial: Trial, best: int | None) -> str:
    """One word for what became of a trial."""
    if trial.invalidated is not None:
        return "invalidated"
    if trial.decision is None:
        return "open"
    if trial.decision.accepted:
        return "best" if trial.number == best else "accepted"
    failed = trial.outcome is not None and trial.outcome.status == "failed"
    return "failed" if failed else trial.decision.verdict


def reason_of(trial: Trial) -> str:
    """The first reason of what became of a trial, shortened."""
    if trial.invalidated is not None:
        return shortened(trial.invalidated)
    reasons = trial.decision.reasons if trial.decision else ()
    return shortened(reasons[0]) if reasons else ""


def objective_of(trial: Trial, objective: Objective) -> str:
    """The objective's value of a trial with its unit, one digit finer than its noise."""
    value = trial.outcome.metrics.get(objective.metric) if trial.outcome else None
    if value is None:
        return ""
    if objective.noise < _FINEST_NOISE:
        return readable(value.model_copy(update={"uncertainty": None}))
    decimals = max(0, readable_decimals(objective.noise, digits=2))
    return with_unit(rounded(value.value, decimals), value.unit)


def tree_rows(study: StudyRecord) -> Iterator[TreeRow]:
    """Lay out every trial of a study, parents before what starts from them."""
    tree = _Tree(study)
    pending = list(reversed([_Place(trial, 0, (), False) for trial in _in_order(tree, None)]))
    while pending:
        place = pending.pop()
        yield _row(tree, place)
        pending += reversed(_places_below(tree, place))


def _in_order(tree: _Tree, number: int | None) -> list[Trial]:
    following = tree.next_of(number)
    others = [child for child in tree.children.get(number, []) if child is not following]
    leaves = [child for child in others if not tree.children.get(child.number)]
    branches = [child for child in others if tree.children.get(child.number)]
    return [*leaves, *branches, *([following] if following else [])]


def _places_below(tree: _Tree, place: _Place) -> list[_Place]:
    following = tree.next_of(place.trial.number)
    children = _in_order(tree, place.trial.number)
    places = []
    for child in children:
        if child is following:
            places.append(_Place(child, place.lane, place.open_lanes, is_branch=False))
        else:
            goes_on = child is not children[-1]
            places.append(
                _Place(child, place.lane + 1, (*place.open_lanes, goes_on), is_branch=True)
            )
    return places


def _row(tree: _Tree, place: _Place) -> TreeRow:
    trial, study = place.trial, tree.study
    rails = ["pass" if is_open else "gap" for is_open in place.open_lanes]
    if place.is_branch:
        rails[-1] = "tee" if place.open_lanes[-1] else "corner"
    return TreeRow(
        number=trial.number,
        rails=tuple(rails[-MOST_LANES:]),
        from_above=not place.is_branch and trial.proposal.parent in tree.by_number,
        to_below=bool(tree.children.get(trial.number)),
        state=state_of(trial, study.best),
        on_path=trial.number in tree.path,
        action=action_in_words(trial.proposal.action),
        objective=objective_of(trial, study.objective),
        reason=reason_of(trial),
    )


def tree_groups(study: StudyRecord) -> list[TreeGroup]:
    """Rows of a study, with what was not accepted folded where there is much of it.

    Up to 80 trials are all drawn. Above, rows side by side that were not accepted fold into one
    line that can be opened; very large trees leave out the rows of such lines and the middle of
    the path, which the list of trials still holds.
    """
    rows = list(tree_rows(study))
    if len(rows) <= COLLAPSE_ABOVE_TRIALS:
        return [TreeGroup(rows=tuple(rows))]
    groups: list[TreeGroup] = []
    for (is_leaf, rails), run in groupby(rows, key=_kind_of_row):
        members = tuple(run)
        if is_leaf and len(members) >= COLLAPSE_FROM_SIBLINGS:
            shown = members if len(rows) <= MOST_GROUPED_ROWS else ()
            groups.append(TreeGroup(rows=shown, folded=_counted(members), rails=rails))
        else:
            groups += [TreeGroup(rows=(member,)) for member in members]
    return _without_middle(groups)


def _kind_of_row(row: TreeRow) -> tuple[bool, tuple[str, ...]]:
    is_leaf = bool(row.rails) and not row.to_below and row.state not in {"accepted", "best"}
    rails = tuple("tee" if rail == "corner" else rail for rail in row.rails)
    return is_leaf, rails if is_leaf else ()


def _counted(rows: Sequence[TreeRow]) -> str:
    states = [row.state for row in rows]
    counts = [f"{states.count(state)} {state}" for state in sorted(set(states))]
    return f"trials {rows[0].number} to {rows[-1].number}: {', '.join(counts)}"


def _without_middle(groups: list[TreeGroup]) -> list[TreeGroup]:
    if len(groups) <= MOST_ROWS:
        return groups
    half = MOST_ROWS // 2
    left_out = groups[half:-half]
    note = f"{len(left_out)} lines are left out here; the list of trials holds them all"
    return [*groups[:half], TreeGroup(rows=(), folded=note), *groups[-half:]]
