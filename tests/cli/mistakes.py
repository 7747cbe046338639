"""A hundred mistakes of the first hour: what is typed, the status, and what the message says.

Each says where it is, what was found there or expected, and what to do.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

HTML = "<!DOCTYPE html>\n<html><body>502 Bad Gateway</body></html>\n"
NDJSON = '{"_id": "t01", "text": "query number 01"}\n'


def _excel() -> bytes:
    book = io.BytesIO()
    with zipfile.ZipFile(book, "w") as archive:
        for name in ("[Content_Types].xml", "xl/workbook.xml", "xl/worksheets/sheet1.xml"):
            archive.writestr(name, "<x/>")
    return book.getvalue()


def _columns(*order: int, by: str = " ") -> Callable[[str], str]:
    """Rows with these columns; 0 is a constant."""
    return lambda text: "".join(
        by.join(["0", *row.split()][number] for number in order) + "\n" for row in text.splitlines()
    )


def _worse(text: str) -> str:
    rows = map(str.split, text.splitlines())
    return "".join(f"{topic} {q} {document} {rank} {rank}.5 {tag}\n" for topic, q, document, rank, _, tag in rows)


#: Files made of a run.
OF_RUN: Mapping[str, Callable[[str], str | bytes]] = {
    "empty.run": lambda _: "",
    "blank.run": lambda _: "\n\n",
    "comma.run": _columns(1, 2, 3, 4, 5, 6, by=","),
    "headless.csv": _columns(1, 3, 5, by=","),
    "swapped.run": _columns(3, 2, 1, 4, 5, 6),
    "no_score.run": _columns(1, 2, 3, 4, 6),
    "five.run": lambda text: "".join(row for row in text.splitlines(True) if int(row.split()[3]) <= 5),
    "utf16.run": lambda text: text.encode("utf-16"),
    "twice.run": lambda text: text + text[: text.index("\n") + 1],
    "upside_down.run": _worse,
    "word_scores.run": lambda text: text.replace(" 100", " best").replace(" 99 ", " high "),
    "nan.run": lambda text: text.replace(" 99 ", " nan "),
    "other_ids.run": lambda text: text.replace("good", "doc-good").replace("bad", "doc-bad"),
    "other_topics.run": lambda text: text.replace("t", "q"),
    "header.csv": lambda text: "suchanfrage,artikel,punkte\n" + _columns(1, 3, 5, by=",")(text),
    "no_scores.csv": lambda text: "query_id,doc_id\n" + _columns(1, 3, by=",")(text),
    "page.json": lambda _: HTML,
    "page.run": lambda _: HTML,
    "book.xlsx": lambda _: _excel(),
    "book.csv": lambda _: _excel(),
    "half.json": lambda _: '{"t01": {"good": 1.0, "bad1": ',
    "error.json": lambda _: json.dumps({"error": {"type": "index_not_found_exception"}, "status": 404}),
    "queries.jsonl": lambda _: NDJSON,
    "half.run": lambda text: "".join(row for row in text.splitlines(True) if row < "t10"),
    "broken.run.gz": lambda _: b"\x1f\x8b\x08\x00 no gzip",
}
#: Files made of judgements.
OF_QRELS: Mapping[str, Callable[[str], str]] = {
    "empty.txt": lambda _: "",
    "three.txt": _columns(1, 3, 4),
    "swapped.txt": _columns(3, 2, 1, 4),
    "words.txt": lambda text: text.replace(" 1\n", " good\n"),
    "conflict.txt": lambda text: text + "t01 0 good 0\n",
    "none_relevant.txt": _columns(1, 2, 3, 2),
    "ratings.csv": lambda text: "query,url,stars\n" + _columns(1, 3, 4, by=",")(text),
    "ids.tsv": _columns(1),
}


def write(folder: Path) -> None:
    """All files, beside ``loss.run`` and ``qrels.txt``."""
    for source, made in (("loss.run", OF_RUN), ("qrels.txt", OF_QRELS)):
        text = (folder / source).read_text(encoding="utf-8")
        for name, make in made.items():
            content = make(text)
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    (folder / "empty_folder").mkdir()


#: What stands after a beginning of a line: where it is wrong, what was expected or found, what to do. In place of
#: ``*`` in the beginning, or at its end.
Cases = Mapping[str, tuple[str, ...]]

TREC = "expected 6 columns (topic Q0 docid rank score tag), found"
FORMAT = "expected rankings in a format that riskguard reads; the nearest is"
NO_FILE = ("no such file", "correct its path")
#: Data that are not what they should be: status 3.
DATA: Mapping[str, Cases] = {
    "compare prod.run * --qrels qrels.txt": {
        "nowhere.run": NO_FILE,
        "god.run": ("god.run: no such file", "did you mean 'good.run'?"),
        "nowhere/good.run": NO_FILE,
        "empty.run": (TREC, "an empty file", "fix the run"),
        "blank.run": (TREC, "an empty file", "fix the run"),
        "comma.run": ("comma.run:1", TREC, "separated by white space", "a header line"),
        "headless.csv": (FORMAT, "names no column for document (document, docno,", "only 't01'", "`columns:`"),
        "header.csv": ("names no column for", "score (score, ", "only 'suchanfrage', 'artikel'", "`columns:`"),
        "no_scores.csv": ("names no column for score (score, sim,", "only 'query_id', 'doc_id'", "`columns:`"),
        "swapped.run": (
            "expected topics of qrels.txt",
            "such as topics t01",
            "found only topics bad1",
            "same topic ids",
        ),
        "no_score.run": ("no_score.run:1", TREC, "5: 't01 Q0 bad1 1 x'"),
        "utf16.run": ("utf16.run:1", "expected UTF-8 text, found byte 0xff", "as UTF-8"),
        "twice.run": (
            "twice.run:601",
            "expected each document once per topic, found 'bad1' of topic 't01'",
            "keep one",
        ),
        "upside_down.run": ("upside_down.run:2", "every ranking is upside down", "with a minus sign"),
        "word_scores.run": (
            "word_scores.run:1",
            "expected a finite number as the score",
            "found high",
            "fix the run",
        ),
        "nan.run": ("nan.run:1", "expected a finite number as the score", "found nan", "fix the run"),
        "other_ids.run": ("such as 'good', 'bad1'", "found 'doc-bad1'", "begin with 'doc-'", "as the judgements do"),
        "other_topics.run": ("expected topics of qrels.txt", "found only topics q01", "same topic ids"),
        "page.json": ("page.json:1", "'<!DOCTYPE html>'", "save the data"),
        "page.run": ("page.run:1", "'<!DOCTYPE html>'", "save the data"),
        "book.xlsx": ("book.xlsx", "CSV"),
        "book.csv": ("book.csv", "CSV"),
        "half.json": ("half.json:1", "not JSON", "fix the run"),
        "error.json": ("error.json", "only 'error', 'status'"),
        "queries.jsonl": ("names no column for topic (topic, qid,", "only '_id', 'text'"),
        "broken.run.gz": ("expected a whole gzip file, found a damaged one", "copy it again"),
        "qrels.txt": ("its first line is one of judgements", "it is not a run"),
        "topics.tsv": ("topics.tsv", "'t01\\tquery number 01'", "not 3 columns"),
        "empty_folder": ("empty_folder", "folder"),
        "riskguard.yaml": ("riskguard.yaml:1", TREC),
        "missing:search": ("missing:search: no such file", "`riskguard init --candidate missing:search`"),
    },
    "compare prod.run good.run --qrels *": {
        "nowhere.txt": NO_FILE,
        "empty.txt": ("expected 4 columns (topic iteration docid grade), found an empty file", "correct the file"),
        "three.txt": ("three.txt:1", "expected 4 columns", "found 3: 't01 good 1'", "correct the file"),
        "swapped.txt": ("expected topics of swapped.txt", "such as topic good", "found only topics t01"),
        "words.txt": (
            "words.txt:1",
            "expected a number from -1000 to 1000 as the grade, found good",
            "correct the file",
        ),
        "conflict.txt": ("conflict.txt:61", "'good' of topic 't01' also on line 1", "keep one of the two"),
        "none_relevant.txt": ("expected at least one relevant document (grade above 0), found none",),
        "ratings.csv": ("names no column for document (document,", "only 'query', 'url', 'stars'", "`columns:`"),
        "ids.tsv": ("ids.tsv:1", "expected 4 columns", "found 1: 't01'"),
        "prod.run": ("prod.run:1", "expected 4 columns", "found 6: 't01 Q0 bad1 1 99 x'", "this is a run"),
        "topics.tsv": ("expected document ids of topics.tsv, such as 'number'",),
        "book.xlsx": ("book.xlsx", "CSV"),
        "page.json": ("page.json:1", "'<!DOCTYPE html>'", "save the data"),
        "empty_folder": ("empty_folder", "folder"),
        "irds:nosuch": ("ir_datasets",),
        "queries.jsonl": ("names no column for grade (grade,", "only '_id', 'text'"),
    },
    "compare prod.run good.run --qrels qrels.txt --topics *": {
        "nowhere.tsv": NO_FILE,
        "empty.txt": ("expected topics, found none", "a topic, a tab and its query text"),
        "qrels.txt": (
            "qrels.txt:1",
            "expected 2 columns (topic, query), found 1",
            "these are judgements",
        ),
        "ids.tsv": ("ids.tsv:1", "expected 2 columns (topic, query), found 1: 't01'", "a tab and its query text"),
        "prod.run": ("prod.run:1", "expected 2 columns (topic, query), found 1", "this is a run"),
        "book.xlsx": ("book.xlsx", "CSV"),
        "page.json": ("page.json:1", "'<!DOCTYPE html>'", "save the data"),
        "empty_folder": ("folder",),
    },
    "": {
        "diff prod.run qrels.txt": ("its first line is one of judgements", "it is not a run"),
        "diff prod.run empty.run": (TREC, "an empty file"),
        "diff prod.run other_topics.run": ("such as 't01'", "such as 'q01'", "no topic in common"),
        "diff prod.run twice.run": ("twice.run:601", "each document once per topic", "keep one"),
        "explain t01 good.run": ("good.run: expected a JSON report of riskguard", "`-o report.json`"),
        "accept nowhere.json --note x": ("nowhere.json: no such file",),
        "compare prd good.run": ("the store holds prod", "did you mean 'prod'?"),
        "compare ./nowhere.run good.run --qrels qrels.txt": NO_FILE,
        "compare good.run prod.run --scores": ("prod.run:1", "header topic,<measure>"),
        "check --candidate nowhere.run": NO_FILE,
        "check --candidate qrels.txt": ("its first line is one of judgements", "it is not a run"),
        "baseline add new nowhere.run": ("nowhere.run: no such file",),
        "baseline add new qrels.txt": ("qrels.txt: ", "it is not a run"),
        "baseline show new": ("no baseline 'new'", "the store holds prod", "`riskguard baseline add new RUN`"),
        "baseline remove new": ("no baseline 'new'", "the store holds prod"),
        "show good.run": (
            "good.run: expected a JSON report of riskguard",
            "found 't01 Q0 good 1 99 x'",
            "`-o report.json`",
        ),
        "report good.run -o page.html": ("good.run: expected a JSON report of riskguard",),
    },
}
#: Lines that ask for what there is not: status 2.
USAGE: Mapping[str, Cases] = {
    "compare prod.run good.run --qrels qrels.txt": {
        "--metric AP": ("No such option '--metric'", "called --measure"),
        "--judgements x": ("No such option '--judgements'", "called --qrels"),
        "--measures AP": ("No such option '--measures'", "'--measure'"),
        "--qrel qrels.txt": ("No such option '--qrel'", "'--qrels'"),
        "--measure ndcg10": ("ir-measures knows no measure 'ndcg10'", "did you mean 'nDCG'?"),
        "--measure map": ("ir-measures knows no measure 'map'", "did you mean 'AP'?"),
        "--measure recall@10": ("knows no measure 'recall'", "did you mean 'R@10'?"),
        "--measure nDCG@10,AP": ("'nDCG@10,AP' is not a measure", "as in nDCG@10 or AP(rel=2)"),
        "--measure missing:score": ("No module named 'missing'", "expected package.module:function"),
        "--gate no_collapse": ("'no_collapse' is not one of", "'no_topic_collapse'"),
        "--alpha high": ("expected a number from 0 to 1e+09, found 'high'",),
        "--set max_loss=0.1": ("max_loss: without --gate", "add --gate no_topic_collapse"),
        "-o page.pdf": ("--output page.pdf", "chosen by the suffix, expected .json,"),
        "-o page": ("--output page", "chosen by the suffix, expected .json,"),
        "-o nowhere/page.html": ("--output nowhere/page.html: cannot write", "no folder nowhere", "make it first"),
        "-o qrels.txt": ("qrels.txt would overwrite the file that this command reads", "name another file"),
    },
    "": {
        "compare prod.run": ("no baseline", "riskguard compare BASELINE CANDIDATE --qrels QRELS"),
        "diff": ("Missing argument 'BASELINE CANDIDATE'",),
        "diff prod.run": ("expected two runs", "riskguard diff BASELINE CANDIDATE"),
        "diff prod.run good.run qrels.txt": ("expected two runs", "riskguard diff BASELINE CANDIDATE"),
        "diff prod.run good.run --qrels qrels.txt": ("No such option '--qrels'",),
        "diff prod.run good.run -o page.pdf": ("--output page.pdf", "expected .json,"),
        "explain t99": ("no query 't99'", "did you mean 't29'?"),
        "accept riskguard.yaml": ("needs --note", "say why"),
        "check 'services/*'": ("services/*: expected a file or a folder, found none",),
        "check qrels.txt": ("qrels.txt:1", "expected a mapping"),
        "compare": ("Missing argument '[BASELINE] CANDIDATE...'",),
        "compare prod.run --qrels qrels.txt": ("no baseline", "riskguard compare BASELINE CANDIDATE --qrels QRELS"),
        "compare prod.run --candidate good.run": ("No such option '--candidate'",),
        "compare prod.run prod.run --qrels qrels.txt": ("a file cannot be compared with itself", "name another run"),
        "check no-rsk": ("there is no gate 'no-rsk'", "did you mean 'no-risk'?"),
        "check --config nowhere.yaml": ("nowhere.yaml:1: no such file",),
        "check --config .": ("expected a regular file, found a folder",),
        "chek": ("No such command 'chek'", "Did you mean 'check'?"),
        "help": ("No such command 'help'",),
        "--config riskguard.yaml check": ("No such option '--config'",),
        "baseline ad new good.run": ("No such command 'ad'", "Did you mean 'add'?"),
        "baseline add": ("Missing argument 'NAME'",),
        "baseline add new": ("name the RUN to store",),
        "baseline add prod good.run": ("already exists", "`riskguard baseline update prod good.run --note WHY`"),
        "baseline add new/old good.run": ("'new/old' cannot name a baseline", "expected at most 100 letters, digits"),
        "baseline add 'my prod' good.run": ("'my prod' cannot name a baseline", "expected at most 100 letters"),
        "baseline update prod good.run": ("needs --note", "say why"),
        "report nowhere.json": ("nothing to write", "such as --output report.html"),
        "show": ("Missing argument 'REPORT'",),
        "judge-next good.run": ("riskguard judge-next BASELINE CANDIDATE --qrels QRELS",),
        "power": ("riskguard power BASELINE CANDIDATE --qrels QRELS",),
        "init": ("riskguard.yaml already exists", "--output"),
        "retrieve out.run": ("riskguard.yaml:4", "the candidate is not a live system"),
    },
}
#: What stands in riskguard.yaml in place of a part of it, and what ``riskguard check`` then says.
YAML: Mapping[str, Mapping[str, tuple[int, *tuple[str, ...]]]] = {
    "candidate: candidate.run": {
        'candidate: {retrieve: "missing:search"}': (3, "No module named 'missing'"),
        'candidate: {retrieve: "helpdesk.py:raises"}': (
            2,
            "riskguard.yaml:4",
            "`helpdesk:raises`",
            "found 'helpdesk.py:raises'",
        ),
        'candidate: {retrieve: "helpdesk:nothing"}': (3, "no attribute 'nothing'"),
        'candidate: {retrieve: "helpdesk:raises"}': (3, "ZeroDivisionError"),
        'candidate: {retrieve: "helpdesk:number"}': (3, "it returned 7, expected ids"),
        'candidate: {retrieve: "helpdesk:nobody"}': (2, "a search takes (query)", "nobody()"),
        "candidate: {command: [no-such-program]}": (3, "no-such-program"),
        'candidate: {http: {preset: elasticsearch, url: "http://127.0.0.1:1/x", body: {q: "{query}"}}}': (
            3,
            "127.0.0.1",
        ),
        "candidate: nowhere.run": (3, "nowhere.run: no such file"),
        "canidate: candidate.run": (2, "riskguard.yaml:4", "canidate", "'candidate'"),
    },
    "qrels: qrels.txt": {
        "qrel: qrels.txt": (2, "riskguard.yaml:1", "qrel", "'qrels'"),
        "qrels: nowhere.txt": (3, "nowhere.txt: no such file"),
    },
    "baseline: prod": {
        "baseline: prd": (3, "no baseline 'prd'", "did you mean 'prod'?"),
        "tolerence: 1, baseline: prod": (2, "riskguard.yaml:6", "tolerence", "'tolerance'"),
    },
    "measures: [AP]": {
        "measures: [ndcg]": (2, "riskguard.yaml:", "did you mean 'nDCG'?"),
        "measures: [AP": (2, "riskguard.yaml:"),
        "\tmeasures: [AP]": (2, "riskguard.yaml:3", "cannot start any token"),
    },
    "kind: not_significantly_risky": {
        "kind: not_risky": (2, "riskguard.yaml:6", "not_risky", "not_significantly_risky")
    },
    "alpha: 1": {"alpha: high": (2, "riskguard.yaml:6", "alpha", "high")},
    "store: baselines": {"store: nowhere": (3, "no baseline 'prod'", "`riskguard baseline add prod prod.run`")},
    "- {name: no-risk": {"- {nme: no-risk": (2, "riskguard.yaml:6", "name")},
}
#: Functions that no search should be.
ENGINE = """\
def raises(query):
    return 1 / 0


def number(query):
    return 7


def nobody():
    return []
"""


def every() -> Iterator[tuple[str, int, tuple[str, ...]]]:
    """Each line, its status, and what its message says."""
    for status, mistakes in ((3, DATA), (2, USAGE)):
        for beginning, cases in mistakes.items():
            for more, said in cases.items():
                start, _, end = beginning.partition("*")
                yield f"{start} {more} {end}".strip(), status, said
