"""Charts in a real browser, with the fonts that it has: what was estimated holds there."""

import pytest

from tests.reports.html.drawings import labels, root_of
from tests.reports.html.test_chart_layout import ASSETS, CASES, drawn

#: Texts that share room or leave their picture. Lines of text may touch: a font's boxes are higher than its letters.
FAULTS = """() => {
  const faults = [];
  for (const svg of document.querySelectorAll("svg")) {
    const picture = svg.getBoundingClientRect();
    const scale = picture.width / svg.viewBox.baseVal.width;
    const texts = [...svg.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
    texts.forEach(([said, a], place) => {
      if (a.left < picture.left - 1 || a.right > picture.right + 1) faults.push(["outside", said]);
      for (const [other, b] of texts.slice(place + 1)) {
        const beside = a.right <= b.left + 1 || b.right <= a.left + 1;
        const apart = Math.abs(a.top + a.bottom - b.top - b.bottom) / 2 > 10 * scale;
        if (!beside && !apart) faults.push(["overlap", said, other]);
      }
    });
  }
  return faults;
}"""
SIZES = """() => [...document.querySelectorAll("svg text")].map((text) =>
  parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)"""


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 1400])
def test_no_two_labels_share_room_in_a_browser(browser, tmp_path, width):
    style = (ASSETS / "style.css").read_text(encoding="utf-8")
    figures = "".join(
        f'<figure><div class="chart">{chart.svg}</div></figure>' for name in CASES for chart in drawn(name)
    )
    path = tmp_path / "charts.html"
    path.write_text(
        '<!DOCTYPE html><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f'<style>{style}</style><body><main><div class="charts">{figures}</div></main>',
        encoding="utf-8",
    )
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(path.as_uri())
    assert page.evaluate(FAULTS) == []
    sizes = page.evaluate(SIZES)
    assert len(sizes) == sum(len(labels(root_of(chart))) for name in CASES for chart in drawn(name))
    assert min(sizes) >= 8.0, "the smallest text can be read on a phone"
    page.close()
