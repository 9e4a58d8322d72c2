"""Works as CSL-JSON and BibTeX and back, as references in a style, and their citation keys."""
