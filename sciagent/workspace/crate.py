"""The workspace as a Process Run Crate (RO-Crate 1.1): who made which file from which, and when.

Profile: https://w3id.org/ro/wfrun/process/0.5
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from sciagent.contracts.artifact import Artifact
from sciagent.contracts.run import Environment, RunRequest
from sciagent.contracts.tree import Trial
from sciagent.workspace.activity import Activity, Interval, read_activity
from sciagent.workspace.atomic import write_atomic
from sciagent.workspace.layout import CRATE, ENVIRONMENT, JOURNAL, OUTCOME, TRIALS
from sciagent.workspace.seal import files_of

if TYPE_CHECKING:
    from rocrate.model.entity import Entity

PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
_TERMS = "https://w3id.org/ro/terms/workflow-run/context"
_VERSION = "1.1"
_COMPLETED = "http://schema.org/CompletedActionStatus"
_FAILED = "http://schema.org/FailedActionStatus"


def write_crate(root: Path, apart: tuple[str, ...] = ()) -> Path:
    """Describe a workspace in `ro-crate-metadata.json`; no file is copied or changed.

    Each trial that was carried out and each notebook that was run is one `CreateAction`. The
    text depends only on the journal and the files, so it is the same whenever it is written.
    Write it when all other files are there, and seal afterwards. Folders named in `apart` are left
    out.

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    WorkspaceError
        If the journal cannot be read or the workspace holds a symbolic link.
    """
    activity = read_activity(root)
    crate = _Crate(root, activity, apart)
    crate.add_trials()
    crate.add_notebooks()
    text = json.dumps(crate.metadata(), indent=1, ensure_ascii=False) + "\n"
    write_atomic(root / CRATE, text)
    return root / CRATE


@dataclass(frozen=True, slots=True)
class _Action:
    """What a `CreateAction` says."""

    identifier: str
    name: str
    description: str
    interval: Interval
    instrument: str
    objects: Sequence[str]
    results: Sequence[str]
    error: str


class _Crate:
    """The crate while it grows."""

    def __init__(self, root: Path, activity: Activity, apart: Sequence[str]) -> None:
        from rocrate.rocrate import ROCrate

        self._activity = activity
        self._files = {each.path: each for each in files_of(root, apart) if each.path != CRATE}
        self._by_trial = _files_by_trial(self._files)
        self._actions: list[Entity] = []
        self._crate = ROCrate(version=_VERSION)
        self._crate.metadata.extra_contexts.append(_TERMS)
        self._describe_root()
        notebooks = {run.notebook for run in activity.notebooks}
        for artifact in self._files.values():
            is_code = artifact.path in notebooks
            self._add_file(artifact.path, _file_properties(artifact, is_code=is_code))
        # The journal grows by the seal after this file is written, so its hash is not stated.
        journal = {"@type": "File", "name": JOURNAL, "encodingFormat": "application/jsonl"}
        self._add_file(JOURNAL, journal)
        self._add_software(root)

    def _describe_root(self) -> None:
        start, request = self._activity.start, self._activity.start.body.request
        dataset = f" on the dataset {request.dataset}" if request.dataset else ""
        entity = self._crate.root_dataset
        entity["name"] = start.body.run
        entity["description"] = f"A run of {request.question}{dataset}."
        entity["datePublished"] = self._activity.last_time
        entity["license"] = self._add(
            "#licence",
            {
                "@type": "CreativeWork",
                "name": "Not stated",
                "description": "Whoever made this run stated no licence; inputs keep theirs.",
            },
        )
        entity["conformsTo"] = self._add(
            PROFILE, {"@type": "CreativeWork", "name": "Process Run Crate", "version": "0.5"}
        )

    def _add(self, identifier: str, properties: Mapping[str, Any]) -> "Entity":
        from rocrate.model.contextentity import ContextEntity

        return self._crate.add(ContextEntity(self._crate, identifier, properties=properties))

    def _add_file(self, path: str, properties: Mapping[str, Any]) -> None:
        from rocrate.model.data_entity import DataEntity

        self._crate.add(DataEntity(self._crate, quote(path), properties=properties))

    def _add_software(self, root: Path) -> None:
        environment = _environment(root)
        request = self._activity.start.body.request
        packages = environment.packages if environment else {}
        requirements = [
            self._add(
                f"#package-{name}",
                {"@type": "SoftwareApplication", "name": name, "softwareVersion": version},
            )
            for name, version in sorted(packages.items())
        ]
        properties: dict[str, Any] = {
            "@type": "SoftwareApplication",
            "name": f"sciagent {request.question}",
        }
        if environment:
            properties["softwareVersion"] = environment.sciagent
        if requirements:
            properties["softwareRequirements"] = [{"@id": each.id} for each in requirements]
        self._add("#instrument", properties)
        self._add("#agent", _agent(request, environment))

    def _add_action(self, action: _Action) -> None:
        properties: dict[str, Any] = {
            "@type": "CreateAction",
            "name": action.name,
            "startTime": action.interval.start,
            "instrument": {"@id": action.instrument},
            "agent": {"@id": "#agent"},
            "object": [{"@id": quote(path)} for path in action.objects],
            "result": [{"@id": quote(path)} for path in action.results],
            "actionStatus": _FAILED if action.error else _COMPLETED,
        }
        if action.description:
            properties["description"] = action.description
        if action.interval.end:
            properties["endTime"] = action.interval.end
        if action.error:
            properties["error"] = action.error
        self._actions.append(self._add(action.identifier, properties))

    def add_trials(self) -> None:
        """Add an action for each trial that was carried out."""
        inputs = [
            artifact.path
            for artifacts in self._activity.start.body.request.inputs.values()
            for artifact in artifacts
        ]
        for trial in self._activity.trials:
            interval = self._activity.intervals.get(trial.number)
            if interval is None:
                continue
            parent = trial.proposal.parent
            start = [] if parent is None else self._by_trial.get(parent, [])
            self._add_action(
                _Action(
                    identifier=f"#trial-{trial.number:04d}",
                    name=f"Trial {trial.number}: {trial.proposal.action.name}",
                    description=trial.proposal.rationale,
                    interval=interval,
                    instrument="#instrument",
                    objects=[*inputs, *(path for path in start if path.endswith(f"/{OUTCOME}"))],
                    results=self._by_trial.get(trial.number, []),
                    error=_error_of(trial),
                )
            )

    def add_notebooks(self) -> None:
        """Add an action for each notebook that was run; the notebook is its instrument."""
        for number, run in enumerate(self._activity.notebooks, start=1):
            self._add_action(
                _Action(
                    identifier=f"#notebook-{number:04d}",
                    name=f"Notebook {run.notebook}",
                    description="",
                    interval=run.interval,
                    instrument=quote(run.notebook),
                    objects=[],
                    results=[path for path in (run.output,) if path in self._files],
                    error=run.error,
                )
            )

    def metadata(self) -> dict[str, Any]:
        """Give the JSON-LD of the crate."""
        self._crate.root_dataset["mentions"] = self._actions
        metadata: dict[str, Any] = self._crate.metadata.generate()
        return metadata


def _files_by_trial(paths: Mapping[str, Artifact]) -> dict[int, list[str]]:
    by_trial: dict[int, list[str]] = {}
    for path in paths:
        folder, _, rest = path.partition("/")
        number = rest.partition("/")[0]
        if folder == TRIALS and number.isdecimal():
            by_trial.setdefault(int(number), []).append(path)
    return by_trial


def _file_properties(artifact: Artifact, *, is_code: bool) -> dict[str, Any]:
    return {
        "@type": ["File", "SoftwareSourceCode"] if is_code else "File",
        "name": artifact.path,
        "encodingFormat": artifact.media_type,
        "contentSize": str(artifact.size_bytes),
        "sha256": artifact.sha256,
    }


def _environment(root: Path) -> Environment | None:
    path = root / ENVIRONMENT
    return Environment.model_validate_json(path.read_bytes()) if path.is_file() else None


def _agent(request: RunRequest, environment: Environment | None) -> dict[str, Any]:
    """Say who proposed: a person, a model, or the field's own policy."""
    if request.policy == "human":
        return {"@type": "Person", "name": "The person who proposed"}
    if request.policy == "model":
        model = environment.model if environment and environment.model else "a language model"
        return {"@type": "SoftwareApplication", "name": model}
    return {"@type": "SoftwareApplication", "name": f"Built-in policy of {request.question}"}


def _error_of(trial: Trial) -> str:
    if trial.outcome is None:
        return "It was interrupted; its outcome is not known."
    if trial.outcome.status == "failed":
        return trial.outcome.error.message if trial.outcome.error else "It failed."
    return ""
