"""Searches, fetches, parses and quotes publications, and knows which were retracted."""
