"""Tests of what an agent may call."""
