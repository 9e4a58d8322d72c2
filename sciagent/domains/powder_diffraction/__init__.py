"""Powder diffraction: crystal structures refined against powder patterns by the Rietveld method."""
