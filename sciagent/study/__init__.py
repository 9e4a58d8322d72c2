"""The one loop of every science: propose, run, check, accept or reject, revise; kept as a tree."""
