"""The surroundings a run was made in, as far as they can change its numbers."""

import hashlib
import importlib.util
import os
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from sciagent.contracts.domain import Domain, Question
from sciagent.contracts.run import Environment, RunRequest

ALWAYS = ("numpy", "scipy", "pydantic", "matplotlib")
UNSANDBOXED = "unsandboxed: the domain's own code ran as the user, without confinement"


def describe_environment(request: RunRequest, domain: Domain, question: Question) -> Environment:
    """Describe versions, platform, threads and seed of this process for a run."""
    return Environment(
        sciagent=version("sciagent"),
        python=platform.python_version(),
        platform=platform.platform(),
        cpu_count=os.cpu_count() or 1,
        packages=package_versions((*ALWAYS, *question.packages)),
        code_sha256=code_hash(domain),
        threads=request.threads,
        seed=request.seed,
        sandbox=UNSANDBOXED,
    )


def package_versions(names: Sequence[str]) -> dict[str, str]:
    """Look up the installed version of each distribution; absent ones are left out."""
    found = {}
    for name in sorted(set(names)):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def code_hash(domain: Domain) -> str:
    """Hash the sources of a domain: names and contents of its Python files, in order."""
    folder = _source_folder(domain)
    digest = hashlib.sha256()
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
