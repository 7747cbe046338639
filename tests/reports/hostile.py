"""Other people's text at its worst: queries, ids, tags and names that try to be more than data.

``STRINGS`` is the corpus; ``texts()`` makes more of its kind; ``verdict_with(text)`` puts one text wherever a verdict
holds text of others.
"""

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from pytest_riskguard import check
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.gates.findings import (
    Documents,
    IfJudged,
    Judgements,
    RankedDocument,
    Slice,
    TopicDocuments,
)
from pytest_riskguard.gates.verdict import Origin, Verdict, VerdictWarning
from pytest_riskguard.reports.provenance import Provenance
from tests.plugin.world import LOSS, TOPICS, differences
from tests.verdicts import altered

STRINGS: dict[str, str] = {
    # markup and scripts
    "script": "<script>alert(1)</script>",
    "script end": "</script><script>alert(1)</script>",
    "script in json": "\\u003c/script\\u003e<!--<script>",
    "image": "<img src=x onerror=alert(1)>",
    "svg": "<svg/onload=alert(1)>",
    "iframe": "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "style": "</style><style>*{display:none}</style>",
    "title end": "</title><h1>owned</h1>",
    "details end": "</details></summary></code></td></table><h1>owned</h1>",
    "comment end": "--><script>alert(1)</script><!--",
    "cdata end": "]]><b>owned</b>",
    "doctype": '<!DOCTYPE x [<!ENTITY a "b">]>&a;',
    "entities": "&lt;script&gt;alert(1)&lt;/script&gt; &amp;amp; &#60;b&#62; &nbsp;",
    "attribute breakout": '" onmouseover="alert(1)" x="',
    "single quoted breakout": "' onfocus='alert(1)' autofocus='",
    "backtick breakout": "`${alert(1)}`",
    "javascript url": "javascript:alert(1)",
    "data url": "data:text/html,<script>alert(1)</script>",
    "template": "{{constructor.constructor('alert(1)')()}} {% raw %} ${7*7} #{7*7}",
    "css": "url(https://evil.example/x.png)); background: red",
    # expressions of charts and of spreadsheets
    "vega expression": "datum['x'] + toString(this.constructor.constructor('alert(1)')())",
    "formula": '=HYPERLINK("http://evil.example";"click")',
    "formula plus": "+1+cmd|' /C calc'!A0",
    "formula minus": "-2+3",
    "formula at": "@SUM(1+1)*cmd|' /C calc'!A0",
    "formula tab": "\t=1+1",
    # terminals
    "colour": "\x1b[31mred\x1b[0m",
    "title of the window": "\x1b]0;owned\x07",
    "link of the terminal": "\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "clear": "\x1b[2J\x1b[H",
    "c1": "\x9b31mred\x9d0;owned\x9c",
    "back": "good\x08\x08\x08\x08evil",
    "carriage return": "FAIL\rPASS",
    "bell and delete": "a\x07b\x7fc",
    "rich markup": "[bold red]owned[/] [link=http://evil.example]x[/link] [/nonsense]",
    # directions, nothing to see, and what is no character
    "bidi override": "abc\u202egnp.exe",
    "bidi isolates": "\u2066\u2067\u2068x\u2069\u202a\u202b\u202d\u202c",
    "zero width": "a\u200bb\u200cc\u200dd\ufeffe\u2060f",
    "tags of unicode": "x\U000e0041\U000e0042\U000e007f",
    "lone surrogates": "\ud800x\udfff",
    "noncharacters": "x\ufffe\uffff\U0001fffe",
    "nul": "a\x00b",
    "private": "\ue000\U000f0000",
    "combining": "z" + "\u0351\u0323\u036b" * 60,
    "right to left": "שלום العربية",
    "emoji": "👩‍👩‍👧‍👦 👍🏽",
    # lines
    "lines": "one\r\ntwo\nthree\rfour",
    "other lines": "one\x0btwo\x0cthree\x85four\u2028five\u2029six\x1cseven",
    "github command": "::error::owned",
    "github command on a line": "x\n::error file=a,line=1::owned\n",
    "github command indented": "  ::warning::owned",
    "github set output": "x\r::set-output name=a::b",
    "github stop": "::stop-commands::x\n::add-mask::0",
    "github old command": "##[error]owned",
    "github group": "x\n##[group]owned",
    "azure command": "##vso[task.setvariable variable=a]b",
    "azure on a line": "\n##vso[task.complete result=Succeeded;]DONE",
    "teamcity": "##teamcity[testFailed name='x']",
    "gitlab section": "section_start:0:x[collapsed=true]\r\x1b[0Kx",
    "percent escapes": "%0A::error::owned%0D%25",
    "properties": "a,line=1,title=b::c",
    # Markdown
    "pipes": "a | b || c \\| d \\\\| e",
    "row": "| x |\n| --- |\n| y |",
    "backticks": "` `` ``` ```` `x",
    "fence": "```\n</details>\n~~~",
    "emphasis": "*a* **b** _c_ __d__ ~~e~~",
    "link": "[click](https://evil.example) [ref][1] [x]: https://evil.example",
    "image link": "![x](https://evil.example/x.png)",
    "autolink": "<https://evil.example> https://evil.example www.evil.example mailto:a@evil.example",
    "mention": "@octocat @org/team cc:@octocat (@octocat) x@y",
    "references": "#1 GH-1 octo/repo#1 !1 $1 %1 &1 ~bug ^alert#1 0123456789abcdef0123456789abcdef01234567",
    "quick actions": "/close\n/merge\n/assign @octocat",
    "heading": "# owned",
    "heading under": "owned\n=====",
    "list": "- [x] owned",
    "number": "1. owned",
    "quote": "> [!CAUTION]\n> owned",
    "rule": "---",
    "footnote": "[^1]: owned",
    "emoji name": ":tada: :octocat:",
    "mathematics": "$\\href{https://evil.example}{x}$ $`x`$",
    "html in markdown": "<a href=https://evil.example>click</a><!-- x",
    "backslashes": "\\\\ \\` \\| \\[ \\",
    # places
    "path": "../../../../etc/passwd",
    "windows path": "C:\\Windows\\system32",
    "shell": "$(touch owned) `touch owned`; touch owned # & | >",
    # size and emptiness
    "long": "x" * 20_000,
    "long words": "lorem ipsum " * 2_000,
    "long punctuation": "<|`" * 3_000,
    "blank": "   \t ",
    "proto": "__proto__",
}


#: The quick tests ask about these, CI about all.
QUICK = (*list(STRINGS)[::9], "script end", "attribute breakout", "vega expression", "lone surrogates", "formula")
NAMES = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in STRINGS]


def texts() -> st.SearchStrategy[str]:
    """Pieces of the corpus, control characters and any other characters in any order."""
    pieces = st.sampled_from(
        [*STRINGS.values(), "\n", "\r", "\x1b[", "::", "##[", "\u202e", "\ud800", "|", "`", "@", "<"]
    )
    anything = st.text(st.characters(), max_size=20)
    return st.lists(pieces | anything, max_size=5).map("".join).filter(bool).map(lambda text: text[:30_000])


def _scores(name: str, by_topic: dict[str, float]) -> TopicScores:
    """Scores on topics that no reader would let in."""
    topics = sorted(by_topic)
    return TopicScores(name, None, tuple(topics), np.array([by_topic[topic] for topic in topics]))


def verdict_with(text: str, **options: Any) -> Verdict:
    """A failed gate in which every text of others is ``text``."""
    scores = differences(LOSS)
    ids = {topic: f"{text}{topic}" for topic in TOPICS}
    judged = check(
        "not_significantly_risky",
        _scores("candidate", {ids[topic]: after for topic, (_, after) in scores.items()}),
        _scores("baseline", {ids[topic]: before for topic, (before, _) in scores.items()}),
        **options,
    )
    topics = tuple(dataclasses.replace(topic, query=text) for topic in judged.responsible_topics)
    guilty = topics[0].topic if topics else text
    moved = RankedDocument(document=text, grade=1, baseline_rank=1, candidate_rank=None, effect=-0.4)
    return altered(
        judged,
        gate=text,
        measure=text,
        candidate=text,
        baselines=(text,),
        responsible_topics=topics,
        warnings=(*judged.warnings, VerdictWarning("few_topics", text)),
        summary=f"{text} Fails. Topic {guilty} of {text} lost; {text}",
        estimates=dataclasses.replace(judged.estimates, flip_set=(guilty,)),
        slices=(Slice(text, text, 12, 0, 6, -0.4, -0.8, -0.9, -0.7, 0.02, True, (guilty,)),),
        documents=Documents(10, (TopicDocuments(guilty, True, (moved,)),)),
        judgements=Judgements(
            4, cases=(IfJudged("irrelevant", -0.1, "fail"),), candidate=3, baseline=2, depends=True
        ),
    )


def incomparable_with(text: str) -> Verdict:
    """A gate that could not be judged, for a reason that quotes ``text``."""
    judged = check("not_significantly_risky", {text: float("inf")}, {text: 0.4})
    return altered(judged, gate=text, problem=f"{text}:3: {text}")


def hostile_provenance(text: str) -> Provenance:
    """Where a report comes from, in which every text of others is ``text``."""
    candidate = Origin(text)
    baseline = Origin(text, text, text, text)
    return Provenance(text, text, text, text, text, None, candidate, (baseline,))
