"""What an agent finds around it while it works; nothing of it is kept in files."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sciagent.contracts.endpoint import Endpoint
from sciagent.contracts.ports import CodeRunner, Literature, Model, Observer
from sciagent.tools.approval import AskApproval
from sciagent.tools.context import never
from sciagent.tools.secrets import Redactor

Heard = Callable[[str, str], None]
"""Is told the channel and the text of each piece of an answer."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What an agent finds around it.

    Attributes
    ----------
    model
        Answers in place of the endpoint.
    literature, code
        Ports; the tools of literature are not offered without it. Without `code`, each agent gets
        a sandboxed kernel.
    readable
        Folders and files that code in the sandbox may read besides the workspace.
    folders
        Folders of the user that code may change: it works on copies, and `runs.decide` accepts
        changes into the folders.
    allow_unsandboxed
        A person agreed that code runs unconfined where there is no sandbox.
    ask_approval
        Asks a person; without it, answers are waited for in the inbox.
    heard, observer
        Told each piece of an answer, and each event.
    cancelled
        Whether to stop; asked often. A stopped run can be resumed.
    """

    model: Model | None = None
    literature: Literature | None = None
    code: CodeRunner | None = None
    readable: tuple[Path, ...] = ()
    folders: tuple[Path, ...] = ()
    allow_unsandboxed: bool = False
    ask_approval: AskApproval | None = None
    heard: Heard | None = None
    observer: Observer | None = None
    cancelled: Callable[[], bool] = never


def redactor_for(endpoint: Endpoint) -> Redactor:
    """Make what takes the secrets of this process out of texts, the endpoint's key among them."""
    key = os.environ.get(endpoint.api_key_variable)
    return Redactor.of_environment({**os.environ, **({"SCIAGENT_API_KEY": key} if key else {})})
