"""Reports: what is printed, and what verification finds."""
