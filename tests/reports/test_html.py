import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from sciagent.reports.body import body_html
from sciagent.reports.contents import load_contents
from sciagent.reports.html import report_html
from sciagent.testing.toy_reports import PretendedRun, Recomputation, checked, report_request
from tests.reports.tampering import edit_claim, edit_json

BEST = PretendedRun(Path()).best
HOSTILE = "\"><script>alert(1)</script><img src=x onerror=alert(2)>'</style>{{claim:better}}"


class Page(HTMLParser):
    """Elements of a page with their attributes, and all its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def values(self, attribute: str) -> list[str]:
        return [str(found[attribute]) for _, found in self.elements if attribute in found]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


def page_of(root: Path, **options: object) -> Page:
    return Page(report_html(load_contents(root, checked(root, **options))))


@pytest.fixture(scope="module")
def page(pristine: Path) -> Page:
    return page_of(pristine)


def test_the_report_is_one_file_without_scripts_or_outside_requests(page: Page) -> None:
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"script", "link", "iframe", "object", "embed", "form", "svg", "base"}
    assert all(each.startswith("data:image/png;base64,") for each in page.values("src"))
    assert len(page.values("src")) == 1
    assert not [name for _, found in page.elements for name in found if name.startswith("on")]
    assert "url(" not in page.text
    assert "@import" not in page.text
    policy = next(found for tag, found in page.elements if "http-equiv" in found)
    assert str(policy["content"]).startswith("default-src 'none'")


def test_every_link_stays_within_the_report_and_its_folder(page: Page, pristine: Path) -> None:
    anchors = set(page.values("id"))
    assert len(anchors) == len(page.values("id"))
    for target in page.values("href"):
        if target.startswith("#"):
            assert target[1:] in anchors
        else:
            assert target.startswith("./")
            assert (pristine / target).exists()


def test_every_claim_has_a_row_with_value_verdict_evidence_trial_and_command(page: Page) -> None:
    assert "claim-final.cell_a" in page.values("id")
    row = (
        r"fluorapatite: cell length a final\.cell_a 9\.3700\(4\) Å matched "
        rf"trials/{BEST:04d}/outcome\.json /metrics/cell_a/value how it was checked .*? "
        rf"sciagent verify \. --rerun --claim final\.cell_a {BEST}"
    )
    assert re.search(row, page.text)
    assert f"#trial-{BEST}" in page.values("href")
    assert f"./trials/{BEST:04d}/outcome.json" in page.values("href")


def test_numbers_in_the_text_link_to_their_claims_with_label_and_verdict(page: Page) -> None:
    links = [f for t, f in page.elements if t == "a" and f.get("href") == "#claim-final.r_wp"]
    assert {link["class"] for link in links} == {"claim matched"}
    assert links[0]["title"] == "fluorapatite: R_wp: matched"


def test_what_is_not_verified_is_said_before_the_report(page: Page) -> None:
    limits = page.text.index("Not verified")
    assert limits < page.text.index("Result")
    said = page.text[limits : page.text.index("Result")]
    assert "7 of 8 claims were compared" in said
    assert "2 sentences of the text carry no claim" in said
    assert "unsandboxed" in said


def test_after_a_rerun_the_report_no_longer_calls_anything_merely_compared(
    pristine: Path,
) -> None:
    page = page_of(pristine, rerun=True, notebook_runner=Recomputation())
    assert "were compared" not in page.text
    assert "7 reproduced" in page.text
    assert "Checked with a re-run" in page.text


def test_a_claim_that_is_wrong_is_marked_where_it_is_read(workspace: Path) -> None:
    edit_claim(workspace, "final.r_wp", value=7.0)
    page = page_of(workspace)
    links = [f for t, f in page.elements if t == "a" and f.get("href") == "#claim-final.r_wp"]
    assert links[0]["class"] == "claim mismatch"
    assert "claims are not what their evidence says" in page.text


def test_every_trial_has_a_place_that_links_can_open(page: Page) -> None:
    anchors = page.values("id")
    assert {f"trial-{number}" for number in range(1, BEST + 1)} <= set(anchors)
    opened = [f for tag, f in page.elements if tag == "details" and "open" in f]
    assert len(opened) == 1
    assert "Rationale" not in page.text
    assert "The scale alone explains most of the misfit." in page.text
    assert "The least squares diverged. Release fewer parameters. convergence" in page.text


def test_hostile_texts_are_shown_and_never_become_markup(tmp_path: Path) -> None:
    texts = dict.fromkeys(("action", "rationale", "detail", "note"), HOSTILE)
    run = PretendedRun(tmp_path / "run", texts=texts)
    request = report_request(run.best)
    numbers = tuple(
        each.model_copy(update={"subject": HOSTILE, "quantity": f"{HOSTILE} {each.id}"})
        for each in request.numbers
    )
    figure = request.figures[0].model_copy(update={"subject": HOSTILE, "caption": HOSTILE})
    source = (
        f"{request.source}\n[link](javascript:alert) <script>x</script> "
        "[data](data:text/html,x) [f](figure:fit)\n"
    )
    changes = {"title": HOSTILE, "numbers": numbers, "figures": (figure,), "source": source}
    run.make(request=request.model_copy(update=changes))
    html = (run.root / "report.html").read_text()
    page = Page(html)
    assert not {"script"} & {tag for tag, _ in page.elements}
    assert html.count("<style>") == html.count("</style>") == 1
    assert len(page.values("src")) == 1
    assert not [name for _, found in page.elements for name in found if name.startswith("on")]
    assert not [each for each in page.values("href") if not each.startswith(("#", "./"))]
    shown = HOSTILE.replace("{{claim:better}}", "")
    assert page.text.count(" ".join(shown.split())) > 10


def test_an_image_that_is_no_figure_is_never_requested(workspace: Path) -> None:
    edit_json(
        workspace / "claims.json",
        lambda document: document.update(report_source="![x](https://example.org/x.png) ![y](z)"),
    )
    contents = load_contents(workspace, checked(workspace))
    assert "<img" not in body_html(contents)
    assert "example.org" not in body_html(contents)


def test_a_report_of_five_thousand_trials_stays_small_and_keeps_every_trial(
    tmp_path: Path,
) -> None:
    run = PretendedRun(tmp_path / "run", rounds=250, tries=19)
    run.make(sealed=False)
    html = (run.root / "report.html").read_text()
    page = Page(html)
    anchors = set(page.values("id"))
    assert run.best == 4981
    assert {f"trial-{number}" for number in range(1, run.best + 1)} <= anchors
    assert len(html) < 2_500_000
    assert sum("row" in str(found.get("class")).split() for _, found in page.elements) < 500
    assert all(each[1:] in anchors for each in page.values("href") if each.startswith("#"))
