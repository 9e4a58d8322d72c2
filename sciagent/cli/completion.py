"""What the shell offers when Tab is pressed."""

import contextlib

from sciagent.cli.places import RUNS_FOLDER


def complete_questions(incomplete: str) -> list[tuple[str, str]]:
    """Questions whose name begins so, each with its title."""
    from sciagent.contracts.errors import SciagentError

    with contextlib.suppress(SciagentError):
        from sciagent.domains.registry import domains

        return [
            (name, question.title)
            for domain in domains()
            for question in domain.questions
            if (name := f"{domain.name}/{question.name}").startswith(incomplete)
        ]
    return []


def complete_datasets(incomplete: str) -> list[tuple[str, str]]:
    """Datasets whose name begins so, each with its title."""
    from sciagent.contracts.errors import SciagentError

    with contextlib.suppress(SciagentError):
        from sciagent.datasets import list_datasets

        return [
            (dataset.name, dataset.title)
            for dataset in list_datasets()
            if dataset.name.startswith(incomplete)
        ]
    return []


def complete_runs(incomplete: str) -> list[str]:
    """Workspaces in the folder of runs: by name, or by path once that is being typed."""
    paths = [journal.parent for journal in sorted(RUNS_FOLDER.glob("*/events.jsonl"))]
    by_path = incomplete.startswith((f"{RUNS_FOLDER}/", "./"))
    names = [str(path) if by_path else path.name for path in paths]
    return [name for name in names if name.startswith(incomplete.removeprefix("./"))]
