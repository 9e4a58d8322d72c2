"""The surroundings a run was made in, as far as they can change its numbers."""

import hashlib
import importlib.util
import os
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from sciagent.contracts.domain import Domain
from sciagent.contracts.endpoint import Endpoint
from sciagent.contracts.run import Environment, RunRequest
from sciagent.domains.registry import domain_of
from sciagent.execution.sandbox import SandboxMode

ALWAYS = ("numpy", "scipy", "pydantic", "matplotlib")
UNSANDBOXED = "unsandboxed: the domain's own code ran as the user, without confinement"


def describe_environment(
    request: RunRequest,
    questions: Sequence[str],
    endpoint: Endpoint | None = None,
    code: SandboxMode | None = None,
) -> Environment:
    """Describe versions, platform, threads and seed of this process for a run.

    Parameters
    ----------
    request
        Of the run.
    questions
        Questions, as ``domain/question``, that were studied in it.
    endpoint
        Where the model answered, if one was asked.
    code
        How the code of agents was confined, if any was run.
    """
    fields = list({domain_of(name).name: domain_of(name) for name in questions}.values())
    packages = [name for field in fields for each in field.questions for name in each.packages]
    return Environment(
        sciagent=version("sciagent"),
        python=platform.python_version(),
        platform=platform.platform(),
        cpu_count=os.cpu_count() or 1,
        packages=package_versions((*ALWAYS, *packages)),
        code_sha256=code_hash(*fields),
        threads=request.threads,
        seed=request.seed,
        sandbox=_confinement(bool(questions), code),
        model=endpoint.model if endpoint else None,
        endpoint=endpoint.base_url if endpoint else None,
    )


def _confinement(has_studies: bool, code: SandboxMode | None) -> str:
    """Say how all that was run was confined: the code of agents, and that of the fields."""
    if code is None:
        return UNSANDBOXED
    said = f"code of agents: {code}"
    return f"{said}; studies: {UNSANDBOXED}" if has_studies else said


def package_versions(names: Sequence[str]) -> dict[str, str]:
    """Look up the installed version of each distribution; absent ones are left out."""
    found = {}
    for name in sorted(set(names)):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def code_hash(*fields: Domain) -> str:
    """Hash the sources of domains: names and contents of their Python files, in order."""
    digest = hashlib.sha256()
    for folder in map(_source_folder, fields):
        for path in sorted(folder.rglob("*.py")):
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
            digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()


def _source_folder(domain: Domain) -> Path:
    module = domain.questions[0].build.__module__
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        return domain.guide.parent
    return Path(spec.origin).parent
