"""Which names say that a value is a secret, and an environment without such values."""

import re
from collections.abc import Mapping

_NAME = re.compile(r"(?:key|token|secret|password|passwd|credentials?)s?$", re.IGNORECASE)
_ADDRESS = re.compile(r"://[^\s/:@]+:[^\s/@]+@")


def is_secret_name(name: str) -> bool:
    """Whether what is called `name` is a key, a token or a password."""
    return _NAME.search(name) is not None


def without_secrets(variables: Mapping[str, str]) -> dict[str, str]:
    """Leave out variables named as secrets, and addresses that hold a password.

    Parameters
    ----------
    variables
        Those of an environment.
    """
    return {
        name: value
        for name, value in variables.items()
        if not is_secret_name(name) and not _ADDRESS.search(value)
    }
