import io
from datetime import timedelta

import pytest
from rich.console import Console

from sciagent.cli.display import ROWS, ProgressDisplay, block
from sciagent.cli.progress import Progress
from sciagent.contracts.events import EventBody, Noted, Sealed
from sciagent.contracts.study import Budget
from tests.cli.journals import BEGIN, concluded, journal, opening, proposed, refinement, trial


def console(*, terminal: bool, width: int = 120) -> Console:
    return Console(
        file=io.StringIO(), force_terminal=terminal, width=width, color_system=None,
        highlight=False, markup=False,
    )  # fmt: skip


def written(screen: Console) -> str:
    assert isinstance(screen.file, io.StringIO)
    return screen.file.getvalue()


def drawn(bodies: list[EventBody], *, width: int = 120, seconds: float = 75.0) -> list[str]:
    progress = Progress()
    for event in journal(bodies):
        progress.apply(event)
    screen = console(terminal=True, width=width)
    screen.print(block(progress, BEGIN + timedelta(seconds=2 + seconds)))
    return written(screen).splitlines()


def shown_plainly(bodies: list[EventBody]) -> list[str]:
    screen = console(terminal=False)
    with ProgressDisplay(screen) as display:
        for event in journal(bodies):
            display(event)
    return written(screen).splitlines()


def test_the_tree_shows_what_was_accepted_and_why_the_rest_was_not() -> None:
    lines = drawn(refinement())
    assert any(line.startswith("✓") and "12.34 %" in line and "-28.9" in line for line in lines)
    rejected = next(line for line in lines if "occupancies" in line)
    assert rejected.startswith("│ ✗")
    assert "b_iso failed" in rejected


def test_the_headline_tells_the_elapsed_time_and_what_is_left() -> None:
    headline = drawn(refinement())[0]
    assert "20260101-apatite-1a2b3c" in headline
    assert "1:15" in headline
    assert "15 trials left" in headline
    assert "52 CPU s left" in headline


def test_the_footline_tells_the_best_and_the_counts() -> None:
    footline = drawn(refinement())[-1]
    assert "best: trial 5, r_wp 12.34 %" in footline
    assert "3 accepted, 2 rejected" in footline


def test_wall_time_left_is_told_where_it_is_limited() -> None:
    assert "45 s left" in drawn(opening(Budget(wall_s=120.0)))[0]


def test_a_running_trial_is_said_to_run() -> None:
    lines = drawn([*refinement(), *proposed(6, 5, "zero")])
    assert any("zero" in line and "running" in line for line in lines)


def test_only_the_last_trials_are_drawn_and_the_others_counted() -> None:
    bodies = opening(Budget())
    for number in range(1, 31):
        bodies += trial(number, number - 1 or None, f"step{number}", 90.0 - number)
    lines = drawn(bodies)
    assert len(lines) == ROWS + 3
    assert f"{30 - ROWS} earlier trials" in lines[1]
    assert "step30" in lines[-2]


@pytest.mark.parametrize("width", [40, 80])
def test_the_tree_keeps_within_the_width_of_the_terminal(width: int) -> None:
    bodies = [*refinement(), *trial(6, 5, "zero", 50.0, "a reason that is long " * 20)]
    lines = drawn(bodies, width=width)
    assert len(lines) == 8
    assert max(map(len, lines)) <= width


def test_without_a_terminal_there_is_one_line_for_each_decided_trial() -> None:
    lines = shown_plainly([*refinement(), concluded(best=5)])
    assert lines == [
        "trial 1 accepted: scale: r_wp 83.12 % [19 trials left]",
        "trial 2 from 1 accepted: background: r_wp 41.2 % (-41.9) [18 trials left]",
        (
            "trial 3 from 2 rejected: occupancies: r_wp 30 % (-11.2): "
            "check b_iso failed: -0.4 is below 0 [17 trials left]"
        ),
        "trial 4 from 2 rejected: profile: The fit diverged. [16 trials left]",
        "trial 5 from 2 accepted: cell: r_wp 12.34 % (-28.9) [15 trials left]",
        "completed: Nothing more to gain.",
    ]


def test_square_brackets_in_texts_are_shown_and_not_read_as_markup() -> None:
    lines = shown_plainly([*opening(), *trial(1, None, "scale", 80.0, "[bold] is no [/style]")])
    assert "[bold] is no [/style]" in lines[0]


def test_a_warning_is_said_once_in_both_modes() -> None:
    bodies = [*opening(), Noted(text="watch out", level="warning"), *trial(1, None, "scale", 8.0)]
    for terminal in (False, True):
        screen = console(terminal=terminal)
        with ProgressDisplay(screen) as display:
            for event in journal(bodies):
                display(event)
        assert written(screen).count("warning: watch out") == 1


def test_a_terminal_keeps_the_last_state_of_the_block() -> None:
    screen = console(terminal=True)
    with ProgressDisplay(screen) as display:
        for event in journal(refinement()):
            display(event)
    assert "best: trial 5" in written(screen).splitlines()[-2]
    assert "trial 5 from 2 accepted" not in written(screen)


def test_while_the_report_is_written_that_is_said() -> None:
    bodies = [*refinement(), concluded(best=5)]
    assert drawn(bodies)[-1] == "completed: Nothing more to gain. Writing the report."
    sealed = Sealed(status="completed", files=())
    assert drawn([*bodies, sealed])[-1].startswith("best: trial 5")


def test_where_questions_are_asked_a_terminal_gets_plain_lines_too() -> None:
    screen = console(terminal=True)
    with ProgressDisplay(screen, live=False) as display:
        for event in journal(refinement()):
            display(event)
    assert written(screen).splitlines()[0].startswith("trial 1 accepted")


def test_remembered_events_count_but_are_not_shown_again() -> None:
    screen = console(terminal=False)
    with ProgressDisplay(screen) as display:
        events = journal([*refinement(), *trial(6, 5, "zero", 9.0)])
        for event in events[:-1]:
            display.remember(event)
        display(events[-1])
    assert written(screen).splitlines() == [
        "trial 6 from 5 accepted: zero: r_wp 9 % (-3.34) [14 trials left]"
    ]
