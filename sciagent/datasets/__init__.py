"""Finds a named dataset: bundled, shipped by a dependency, cached, or downloaded.

``list_datasets``, ``load_dataset``
    What there is, and one of them by name.
``resolve``, ``fetch``
    Where the files of a dataset lie, checked against their hashes; downloads what is missing.
"""

from sciagent.datasets.registry import DatasetRegistry, fetch, list_datasets, load_dataset, resolve

__all__ = ["DatasetRegistry", "fetch", "list_datasets", "load_dataset", "resolve"]
