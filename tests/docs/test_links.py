"""Links within the documentation lead somewhere."""

import os.path
import re
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, PAGES

ROOT = DOCS.parent
LINKING = [*PAGES, ROOT / "README.md", ROOT / "SECURITY.md", ROOT / "CONTRIBUTING.md"]


def without_code(text: str) -> str:
    return re.sub(r"^(`{3,}).*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """Anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", without_code(page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", LINKING, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_within_the_repository_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text(encoding="utf-8"))):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        # without following links: the package of the checkout may be a link to where it is installed
        file = Path(os.path.normpath(page.parent / path)) if path else page
        assert file.exists(), target
        assert file.is_relative_to(ROOT), target
        if anchor:
            assert anchor in anchors(file), target


def test_the_index_leads_to_every_page():
    targets = re.findall(r"\]\(([^)#\s]+)", (DOCS / "README.md").read_text(encoding="utf-8"))
    reached = {(DOCS / target).resolve() for target in targets}
    assert reached | {DOCS / "README.md"} == set(PAGES)
