"""Surveys of the literature: a plan, evidence by facets, chapters, and a pass for consistency."""
