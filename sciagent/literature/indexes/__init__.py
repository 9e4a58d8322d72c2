"""The indexes of the literature and of the web, one module each.

Another distribution adds one through the entry-point group ``sciagent.indexes``, see `registry`.
"""
