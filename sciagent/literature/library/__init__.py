"""The user's own papers and notes, searched on this machine alone."""
