"""Comments and sign-offs by people: `reviews.jsonl`, which may grow after the seal."""

import fcntl
import os
from typing import Literal

from pydantic import ValidationError

from sciagent.contracts.claim import ClaimsFile
from sciagent.contracts.errors import InputError, UnknownNameError, WorkspaceError
from sciagent.contracts.review import Review
from sciagent.workspace.atomic import storage_error, write_all
from sciagent.workspace.clock import utc_timestamp
from sciagent.workspace.content import sha256_of_file
from sciagent.workspace.identity import new_ulid
from sciagent.workspace.layout import CLAIMS, REVIEWS, Layout


def add_review(
    layout: Layout,
    reviewer: str,
    claim: str,
    text: str = "",
    verdict: Literal["comment", "signed_off", "objection"] = "comment",
) -> Review:
    """Append what a person says of a claim; many people may do so at once.

    Parameters
    ----------
    layout
        The workspace.
    reviewer
        Name of the person.
    claim
        Claim it is about; empty for the report as a whole.
    text
        The comment; a sign-off needs none.
    verdict
        What the person makes of the claim.

    Raises
    ------
    InputError
        If there is no report, no reviewer, no such claim, or nothing is said.
    ResourceError
        If the disk is full; the file is then as it was.
    """
    if not reviewer.strip():
        raise InputError("A review needs the name of its reviewer.", "Give your name.")
    if verdict != "signed_off" and not text.strip():
        raise InputError(f"A review of the kind {verdict!r} needs a text.", "Say what you found.")
    _require_claim(layout, claim)
    review = Review(
        id=new_ulid(), time=utc_timestamp(), reviewer=reviewer.strip(), claim=claim,
        verdict=verdict, text=text, claims_sha256=sha256_of_file(layout / CLAIMS),
    )  # fmt: skip
    try:
        _append_line(layout, review.model_dump_json().encode() + b"\n")
    except OSError as error:
        raise storage_error(error, f"the review cannot be written to {layout.root}") from error
    return review


def _require_claim(layout: Layout, claim: str) -> None:
    path = layout / CLAIMS
    try:
        claims = ClaimsFile.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise WorkspaceError(
            f"{layout.root} has no readable {CLAIMS} to review.", "Finish the run first."
        ) from error
    names = [each.id for each in claims.claims]
    if claim and claim not in names:
        raise UnknownNameError.among("claim", claim, names)


def _append_line(layout: Layout, line: bytes) -> None:
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(layout / REVIEWS, flags, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        content = os.pread(descriptor, os.fstat(descriptor).st_size, 0)
        # A line that a crash cut off was never confirmed to its writer.
        good_bytes = content.rfind(b"\n") + 1
        os.ftruncate(descriptor, good_bytes)
        try:
            write_all(descriptor, line)
            os.fsync(descriptor)
        except OSError:
            os.ftruncate(descriptor, good_bytes)
            raise
    finally:
        os.close(descriptor)


def read_reviews(layout: Layout) -> tuple[Review, ...]:
    """Read all reviews, oldest first.

    Raises
    ------
    WorkspaceError
        If a line is no review.
    """
    path = layout / REVIEWS
    if not path.is_file():
        return ()
    lines = path.read_bytes().split(b"\n")[:-1]
    try:
        return tuple(Review.model_validate_json(line) for line in lines)
    except ValidationError as error:
        raise WorkspaceError(
            f"{path} holds a line that is no review.", "Restore the file from a copy."
        ) from error
