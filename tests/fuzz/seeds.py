"""The files that the search begins with, small and made by code: valid ones, and the forms that a file can take."""

import gzip
from functools import cache

from pytest_riskguard.reports import json as report_json
from pytest_riskguard.reports.comparisons import KnownGate, Report
from tests.baselines.test_manifest import MANIFEST, MOVED, NAMED, NOISY
from tests.reports.test_json import KINDS as VERDICTS
from tests.sabotage.project import YAML

RUN = b"q1 Q0 d1 1 2.5 t\nq1 Q0 d2 2 -1e-3 t\nq2 Q0 d1 1 7 t\n"
QRELS = b"q1 0 d1 2\nq1 0 d2 0\nq2 0 d1 -1\n"
TOPICS = b"topic\tquery\tintent\tweight\nq1\tred shoes\tbrowse\t2\nq2\twinter coat\tbuy\t0.5\n"
SCORES = b'topic,nDCG@10,"AP(rel=2,judged_only=True)",mine\nq1,0.4307,0.25,-7\nq2,1,0.5,1e3\n'
#: Scores as trec_eval, ir_measures, PyTerrier, ranx and pytrec_eval write them.
EVALUATIONS = (
    b"map                   \tq1\t0.5\nP_5\tq1\t0.2\nmap\tall\t0.5\n",
    b"q1\tAP\t0.5\nq2\tAP\t1\nall\tAP\t0.75\n",
    b'{"query_id": "q1", "measure": "AP", "value": 0.5}\n{"query_id": "q2", "measure": "AP", "value": 1}\n',
    b"name,qid,measure,value\nBM25,q1,map,0.5\nBM25,q2,map,1\n",
    b'{"map": {"q1": 0.5, "q2": 1}}\n',
    b'{"q1": {"map": 0.5, "ndcg_cut_10": 1}, "q2": {"map": 1e-3, "ndcg_cut_10": 0}}\n',
)

GATES = (
    KnownGate("riskguard.yaml::a", 3, "judged", 1, (0,)),
    KnownGate("tests/test_b.py::test_b", None, "deselected", 0, ()),
)
SETTINGS = (
    YAML,
    "collection: {qrels: q.txt}\nmeasures: [RR]\ncandidate: c.run\n"
    "gates: [{name: a, kind: no_topic_collapse, baseline: b, max_loss: 0.3}]\n",
    "collection:\n  qrels: 'q.txt'\ncandidate: {retrieve: 'm:f', workers: 2}\nmeasures: [\"AP(rel=2)\"]\n"
    "family: auto\ngates:\n- name: a\n  kind: not_significantly_risky\n"
    "  baseline: b\n  alpha: [1, 5]\n  slice: intent=x\n",
)


@cache
def seeds(reader: str) -> list[bytes]:
    """The seeds of one reader."""
    match reader:
        case "runs":
            return _forms(RUN, RUN + b"q1 Q0 d3 3 0 t\n")
        case "qrels":
            return _forms(QRELS)
        case "topics":
            return _forms(TOPICS, b"q1\tred shoes\nq2\t\n")
        case "scores":
            return _forms(SCORES, b"topic\tRR\tP@5\nq1\t0.5\t0.2\n", *EVALUATIONS)
        case "manifest":
            return [manifest.to_bytes() for manifest in (MANIFEST, NOISY, MOVED, NAMED)]
        case "report":
            return [report_json.dumps(Report([make()], GATES)).encode() for make in VERDICTS.values()]
        case "yaml":
            return [text.encode() for text in SETTINGS]
    raise ValueError(f"no reader {reader!r}")


def _forms(*contents: bytes) -> list[bytes]:
    """Each content as it is, with CRLF and a byte order mark, without a last line end, and compressed."""
    return [
        form
        for content in contents
        for form in (
            content,
            b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n"),
            content[:-1],
            gzip.compress(content, mtime=0),
        )
    ]
