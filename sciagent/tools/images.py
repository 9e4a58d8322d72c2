"""Pictures of the workspace, shown to the model or put into numbers."""

import hashlib
import io
from typing import Any

import numpy as np

from sciagent.contracts.conversation import Image
from sciagent.contracts.errors import InputError
from sciagent.tools.confinement import opened_below
from sciagent.tools.files import holds_outside_text
from sciagent.tools.tool import ToolContext, ToolOutput, tool
from sciagent.workspace.content import media_type

_LARGEST_BYTES = 8 * 1024 * 1024
_LARGEST_PIXELS = 40_000_000
_SHOWN = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})
_GRID = 8
_COLOURS = 5


@tool(read_only=True, approval="never")
def view_image(context: ToolContext, path: str) -> ToolOutput:
    """Look at a picture of the workspace, such as a figure.

    A model that takes no pictures is given its size, its colours and a coarse map of its
    brightness instead.

    Parameters
    ----------
    path
        Relative to the workspace.
    """
    kind = media_type(path)
    if kind not in _SHOWN:
        raise InputError(
            f"{path!r} is no picture that can be shown.", "Give a PNG, JPEG, GIF or WebP file."
        )
    with opened_below(context.root, path) as stream:
        content = stream.read(_LARGEST_BYTES + 1)
    if len(content) > _LARGEST_BYTES:
        raise InputError(f"{path!r} is larger than {_LARGEST_BYTES} bytes.", "Make it smaller.")
    tainted = holds_outside_text(context, path)
    if context.takes_images:
        shown = Image(path=path, sha256=hashlib.sha256(content).hexdigest(), media_type=kind)
        text = f"The picture is shown ({len(content)} bytes)."
        return ToolOutput(text, images=(shown,), tainted=tainted, provenance=path)
    return ToolOutput(summary_of(content, path), tainted=tainted, provenance=path)


def summary_of(content: bytes, path: str) -> str:
    """Describe a picture in numbers.

    Raises
    ------
    InputError
        If it cannot be read as a picture, or has too many pixels.
    """
    pixels = _pixels(content, path)
    height, width = pixels.shape[:2]
    grey = pixels @ np.array([0.299, 0.587, 0.114])
    brightness = [f"{word} {value:.0f}" for word, value in _extent(grey).items()]
    lines = [
        f"{width} x {height} pixels; brightness from 0 to 100: {', '.join(brightness)}.",
        "Most frequent colours (red, green, blue in percent; share of the pixels):",
        *_colours(pixels),
        f"Mean brightness of {_GRID} x {_GRID} parts, the top row first:",
        *_map(grey),
    ]
    return "\n".join(lines)


def _extent(grey: Any) -> dict[str, float]:
    return {"lowest": grey.min(), "mean": grey.mean(), "highest": grey.max()}


def _pixels(content: bytes, path: str) -> Any:
    """Red, green and blue of each pixel in percent, on white, shape (height, width, 3)."""
    from PIL import Image as Picture
    from PIL import UnidentifiedImageError

    try:
        picture = Picture.open(io.BytesIO(content))
        if picture.width * picture.height > _LARGEST_PIXELS:
            raise InputError(f"{path!r} has more than {_LARGEST_PIXELS} pixels.")
        whole = np.asarray(picture.convert("RGBA"), dtype=float) / 255.0
    except (UnidentifiedImageError, Picture.DecompressionBombError, OSError, ValueError) as error:
        raise InputError(f"{path!r} cannot be read as a picture: {error}.") from error
    opacity = whole[..., 3:]
    return 100.0 * (whole[..., :3] * opacity + 1.0 - opacity)


def _colours(pixels: Any) -> list[str]:
    rounded = np.round(pixels / 10.0).astype(int).reshape(-1, 3) * 10
    colours, counts = np.unique(rounded, axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:_COLOURS]
    shares = counts / counts.sum()
    return [f"  {tuple(map(int, colours[k]))}: {100.0 * shares[k]:.1f} %" for k in order]


def _map(grey: Any) -> list[str]:
    rows = [part for part in np.array_split(grey, _GRID, axis=0) if part.size]
    return [
        "  " + " ".join(f"{part.mean():3.0f}" for part in np.array_split(row, _GRID, axis=1)
                        if part.size)
        for row in rows
    ]  # fmt: skip
