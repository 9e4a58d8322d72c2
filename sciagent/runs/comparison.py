"""Two runs side by side."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from sciagent.contracts.claim import NumberClaim, TextClaim
from sciagent.contracts.quantity import written
from sciagent.contracts.run import ComparedRow, Comparison
from sciagent.runs.opened import Run, open_run

_ABSENT = "-"


def compare(first: str | Path, second: str | Path) -> Comparison:
    """Compare what two runs were asked, what they reached, and each claim of their reports.

    Claims are matched by identifier and shown with the rounding they are reported with.
    """
    runs = open_run(first), open_run(second)
    rows = [
        *_rows("run", *(_asked(run) for run in runs)),
        *_rows("setting", *(_settings(run) for run in runs)),
        *_rows("objective", *(_objective(run) for run in runs)),
        *_rows("metric", *(_metrics(run) for run in runs)),
        *_rows("claim", *(_claims(run) for run in runs)),
    ]
    return Comparison(first=runs[0].name, second=runs[1].name, rows=tuple(rows))


def _rows(group: str, first: Mapping[str, str], second: Mapping[str, str]) -> Iterator[ComparedRow]:
    for name in dict.fromkeys([*first, *second]):
        left, right = first.get(name, _ABSENT), second.get(name, _ABSENT)
        yield ComparedRow.model_validate(
            {"group": group, "name": name, "first": left, "second": right, "equal": left == right}
        )


def _asked(run: Run) -> dict[str, str]:
    request, result = run.request, run.result
    inputs = {
        f"input {name}": ", ".join(f"{Path(a.path).name} {a.sha256[:12]}" for a in artifacts)
        for name, artifacts in request.inputs.items()
    }
    return {
        "question": request.question,
        "policy": request.policy,
        "seed": str(request.seed),
        **inputs,
        "status": result.status,
        "trials": str(result.trials),
        "accepted": str(result.accepted),
        "rejected": str(result.rejected),
    }


def _settings(run: Run) -> dict[str, str]:
    return {name: str(value) for name, value in sorted(run.request.settings.items())}


def _objective(run: Run) -> dict[str, str]:
    objective = run.result.objective
    value = _ABSENT if objective.value is None else f"{objective.value:.6g} {objective.unit}"
    return {objective.name: value}


def _metrics(run: Run) -> dict[str, str]:
    return {
        name: f"{metric.value:.6g} {metric.unit}" for name, metric in run.result.metrics.items()
    }


def _claims(run: Run) -> dict[str, str]:
    found: dict[str, str] = {}
    for claim in run.claims.claims if run.claims else ():
        if isinstance(claim, NumberClaim):
            value = written(claim.value, claim.unit, claim.decimals)
            found[f"{claim.id}: {claim.label}"] = value
        elif isinstance(claim, TextClaim):
            found[f"{claim.id}: {claim.label}"] = claim.value
    return found
