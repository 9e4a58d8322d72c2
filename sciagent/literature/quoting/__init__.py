"""Quotes: where they stand in a stored text, and whether they support what is stated."""
