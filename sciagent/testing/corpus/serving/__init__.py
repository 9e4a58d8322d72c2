"""A server on this machine that plays the indexes of the literature and the sites of journals."""
