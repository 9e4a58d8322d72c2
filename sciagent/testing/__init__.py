"""Public test doubles and conformance suites; for tests, never for run time."""
