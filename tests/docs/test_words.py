"""The words of those who come from elsewhere lead to a page, which says them in its line ``Also called: ...``."""

import re

import pytest

from tests.docs.pages import DOCS, PAGES

#: Where the search of the site leads to: ``docs/conf.py`` makes entries of its index, and ``.ci/run`` looks for them.
ALSO_CALLED = {
    word.lower(): page.relative_to(DOCS).as_posix()
    for page in PAGES
    for words in re.findall(r"^Also called: (.*)\.$", page.read_text(encoding="utf-8"), re.MULTILINE)
    for word in words.split(", ")
}


@pytest.mark.parametrize(
    ("word", "page"),
    [
        ("query", "glossary.md"),
        ("metric", "reference/measures.md"),
        ("custom metric", "reference/measures.md"),
        ("LLM judgements", "reference/files.md"),
        ("golden queries", "reference/files.md"),
        ("relevance labels", "reference/files.md"),
        ("model", "how-to/from-beir-or-mteb.md"),
        ("several candidates", "how-to/judge-several-gates.md"),
        ("monorepo", "how-to/judge-several-gates.md"),
        ("A/B test", "explanation/when-not-to-use-this.md"),
        ("snapshot", "how-to/keep-baselines.md"),
        ("regression test", "how-to/gate-a-pull-request.md"),
        ("no labels", "how-to/without-judgements.md"),
        ("search function", "how-to/judge-a-live-system.md"),
        ("segment", "how-to/look-at-slices.md"),
        ("sample size", "explanation/topics.md"),
        ("uv", "how-to/install.md"),
    ],
)
def test_a_word_of_others_leads_to_its_page(word, page):
    assert ALSO_CALLED[word.lower()] == page


def test_no_word_leads_to_two_pages():
    said = [
        word
        for page in PAGES
        for word in re.findall(r"^Also called: (.*)\.$", page.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert len(ALSO_CALLED) == len(", ".join(said).split(", "))
