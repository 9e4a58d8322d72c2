"""Figures with the same bytes wherever the same versions draw the same data."""

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sciagent.contracts.errors import UnknownNameError

Drawings = Mapping[str, Callable[[Sequence[Path]], Any]]
"""Drawing functions of a question: paths of the data to a matplotlib Figure."""

DPI = 150
REPORT_STYLE: dict[str, Any] = {
    "axes.grid": False,
    "axes.linewidth": 0.8,
    "axes.prop_cycle": "cycler('color', ['1f4e79', 'b5532b', '4a7c59', '7a5195', '8a6d1f'])",
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": "medium",
    "figure.constrained_layout.use": True,
    "figure.facecolor": "white",
    "figure.figsize": (7.0, 4.2),
    "font.size": 9.5,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "savefig.bbox": "standard",
}


def draw(drawings: Drawings, name: str, data: Sequence[Path]) -> bytes:
    """Draw a figure as PNG.

    Parameters
    ----------
    drawings
        Drawing functions by name.
    name
        The one to use.
    data
        Files that it draws.

    Returns
    -------
    bytes
        A PNG of 150 dots per inch without any text chunk that would change from run to run.

    Raises
    ------
    UnknownNameError
        If there is no drawing function of this name.
    """
    import matplotlib.style
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    if name not in drawings:
        raise UnknownNameError.among("drawing", name, drawings)
    with matplotlib.style.context(["default", REPORT_STYLE]):
        figure = drawings[name](data)
        FigureCanvasAgg(figure)
        stream = io.BytesIO()
        figure.savefig(stream, format="png", dpi=DPI, metadata={"Software": None})
    return stream.getvalue()


def different_pixels(first: bytes, second: bytes) -> float:
    """Share of the pixels that differ between two PNG images, 1.0 if their sizes do.

    Raises
    ------
    OSError
        If one of them is no PNG image.
    """
    import numpy as np
    from matplotlib.image import imread

    one, other = (imread(io.BytesIO(image), format="png") for image in (first, second))
    if one.shape != other.shape:
        return 1.0
    return float(np.mean(np.any(one != other, axis=-1)))
