"""Runs code and notebooks in kernels, under limits, and records what was really executed."""
