"""Powder diffraction, step by step and as a whole."""
