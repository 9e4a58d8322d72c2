"""Rules of the house that no linter knows, read from the source tree itself."""
