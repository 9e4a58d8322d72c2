"""What cannot be read as a bibliography or a style."""

from sciagent.contracts.errors import InputError


class BibliographyError(InputError):
    """A bibliography, or a style for one, cannot be read as what it is said to be."""

    kind = "input.bibliography"
