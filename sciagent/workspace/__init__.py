"""The folder of one run: layout, journal, content-addressed store, lock and crate."""
