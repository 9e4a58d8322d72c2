"""One package per field of science, usable without any model: they compute, never decide."""
