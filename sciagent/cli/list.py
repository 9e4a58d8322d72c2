"""``sciagent list``: the runs of a folder."""

from sciagent.cli.options import JsonOption, OutOption, examples
from sciagent.cli.places import RUNS_FOLDER

EXAMPLES = examples("sciagent list", "sciagent list --out DIR --json")


def list_runs(out: OutOption = RUNS_FOLDER, as_json: JsonOption = False) -> None:
    """List the runs of a folder, with what each came to.

    With --json, the object has one key, runs.
    """
    from sciagent import runs
    from sciagent.cli.streams import messages, results, write_json
    from sciagent.cli.summary import runs_table

    summaries = runs.list_runs(out)
    if as_json:
        write_json({"runs": [summary.model_dump(mode="json") for summary in summaries]})
    elif summaries:
        results().print(runs_table(summaries), soft_wrap=False)
    else:
        messages().print(f"There are no runs in {out}.", soft_wrap=True)
