import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    with playwright.sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.mark.parametrize("width_px", [400, 1200])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report_fits_its_window_and_asks_nobody_for_anything(
    browser: object, pristine: Path, width_px: int, scheme: str
) -> None:
    page = browser.new_page(  # type: ignore[attr-defined]
        viewport={"width": width_px, "height": 900}, color_scheme=scheme
    )
    requests: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    address = (pristine / "report.html").as_uri()
    page.goto(address)
    assert [each for each in requests if not each.startswith("data:")] == [address]
    assert complaints == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width_px
    assert page.evaluate("document.images[0].naturalWidth") > 500
    page.close()


def test_a_link_to_a_trial_opens_it(browser: object, pristine: Path) -> None:
    page = browser.new_page()  # type: ignore[attr-defined]
    page.goto((pristine / "report.html").as_uri())
    trial = page.locator("#trial-3")
    assert not trial.is_visible()
    page.locator(".tree a[href='#trial-3']").click()
    assert trial.is_visible()
    page.close()
