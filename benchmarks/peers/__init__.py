"""Peers that install from pip, run beside ours against the same scripted server.

A peer runs in a process of its own, in the interpreter that ``SCIAGENT_PEERS_PYTHON`` names or
else in the running one. Where it is not installed, the figure once measured is quoted instead.
"""
