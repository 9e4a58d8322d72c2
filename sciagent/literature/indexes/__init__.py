"""The indexes of the literature, one module for each, behind one small interface."""
