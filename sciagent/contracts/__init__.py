"""Frozen models that packages exchange, the error tree, and the ports.

Every other package may import this one; it imports only pydantic and the standard library.
Import from the modules: `sciagent.contracts.study`, `.tree`, `.run`, `.events`, `.claim`,
`.domain`, `.dataset`, `.ports`, `.errors`, `.units`, `.quantity`.
"""
