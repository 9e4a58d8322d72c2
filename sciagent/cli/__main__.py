"""``python -m sciagent.cli``: the command line where the script is not on the path."""

from sciagent.cli import main

main()
