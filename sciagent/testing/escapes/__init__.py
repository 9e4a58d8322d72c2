"""Attempts to get out of a sandbox, and the ground on which they are made.

Each attempt is Python that prints ``ESCAPED`` or a secret when it succeeds; what it did outside is
looked at from outside as well. Attempts on the network reach loopback and hosts that the ground
itself makes in a network namespace; no packet is sent to an address of anybody else.
"""
