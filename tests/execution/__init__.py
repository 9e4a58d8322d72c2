"""Kernels, notebooks and child processes."""
