"""The command line: one file per subcommand, no logic of its own."""

import sys

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> None:
    """Run one command and exit with its code.

    Parameters
    ----------
    arguments
        Words after ``sciagent``; those of this process if none are given.

    Raises
    ------
    SystemExit
        Always. Codes: 0 completed or abstained, 1 failure, 2 bad input, 3 budget reached
        without a result, 130 stopped on request (the run can be resumed).
    """
    given = sys.argv[1:] if arguments is None else arguments
    try:
        from sciagent.cli.application import invoke

        invoke(given)
    except Exception as error:  # noqa: BLE001 - process boundary: a sentence, no trace
        from sciagent.cli.failures import report

        sys.exit(report(error, given))
