"""Measurements of what the project promises: ``python -m benchmarks.NAME [--quick] [--json]``."""
