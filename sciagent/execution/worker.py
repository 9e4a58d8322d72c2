"""A worker process of a campaign: takes rows from its standard input, one line each, and answers.

It is a program of its own, so that whoever starts a campaign from a script or a notebook needs no
``if __name__ == "__main__"``. What a row prints goes to standard error.
"""

import os
import sys

from sciagent.execution.attempts import AttemptTask, carry_out
from sciagent.execution.light_imports import RARELY_USED, load_when_used
from sciagent.execution.tether import die_with_parent


def main() -> None:
    """Run rows until the owner closes the input or dies."""
    die_with_parent(int(sys.argv[1]))
    load_when_used(*RARELY_USED)
    with os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8") as answers:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        for line in sys.stdin:
            result = carry_out(AttemptTask.model_validate_json(line))
            answers.write(f"{result.model_dump_json() if result else 'null'}\n")
            answers.flush()


if __name__ == "__main__":
    main()
