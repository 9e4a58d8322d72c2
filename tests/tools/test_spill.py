from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sciagent.tools.boundary import outside_fences
from sciagent.tools.context import ToolContext
from sciagent.tools.files import find_text, read_file
from sciagent.tools.spill import SpillLimits, spill
from sciagent.tools.toolbox import Toolbox
from tests.tools.calls import call, result_of, saying, used

LONG = "beginning " + "lorem ipsum " * 100_000 + "the needle" + " dolor" * 1_000 + " ending"
"""1.2 MB, with something to find in the middle."""


def spilled_path(root: Path) -> str:
    (path,) = (root / "data" / "spill").iterdir()
    return path.relative_to(root).as_posix()


def test_an_output_of_a_megabyte_is_shown_by_its_head_its_tail_and_its_path(
    context: ToolContext,
) -> None:
    assert len(LONG) > 1_200_000
    message = Toolbox([saying(LONG)]).execute(call("say"), context)
    result = result_of(message)
    assert len(message.content) < 13_000
    assert result.text.startswith("beginning lorem")
    assert result.text.endswith("dolor ending")
    notice = outside_fences(message.content)
    assert f"has {len(LONG)} characters" in notice
    assert spilled_path(context.root) in notice
    assert (context.root / spilled_path(context.root)).read_text() == LONG


def test_what_was_spilled_can_be_searched_and_read_in_parts(context: ToolContext) -> None:
    Toolbox([saying(LONG)]).execute(call("say"), context)
    path = spilled_path(context.root)
    found = used(find_text, context, path=path, text="The  needle").text
    start = int(found.partition(":")[0])
    part = used(read_file, context, path=path, start=start, characters=10)
    assert part.text == "the needle"
    assert part.label.fetched


def test_an_output_below_the_limit_is_left_whole_and_no_file_is_written(root: Path) -> None:
    text = "x" * 16_000
    assert spill(text, root, SpillLimits()).text == text
    assert not (root / "data").exists()


def test_a_full_disk_still_gives_head_and_tail(root: Path) -> None:
    (root / "data").write_text("a file where the folder should be")
    shown = spill(LONG, root, SpillLimits(whole=100, head=20, tail=10))
    assert shown.text.startswith("beginning")
    assert "could not be kept" in shown.notice


def test_the_same_output_from_many_threads_is_kept_once(context: ToolContext) -> None:
    box = Toolbox([saying(LONG[:50_000])])
    with ThreadPoolExecutor(8) as pool:
        messages = list(pool.map(lambda _: box.execute(call("say"), context), range(16)))
    assert len({message.content for message in messages}) == 1
    assert "could not be kept" not in messages[0].content
