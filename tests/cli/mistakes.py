"""A hundred mistakes of the first hour: what is typed, the status, and what the message says.

Each says where it is, what was found there or expected, and what to do.
"""

import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

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
    "cut.run": lambda text: text.rsplit(" ", 2)[0],
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


#: What is typed and said: ``mistakes.yaml``.
ASKED: Mapping[Any, Mapping[str, Mapping[str, list[Any]]]] = yaml.safe_load(
    Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
)
#: Functions that no search should be.
ENGINE = """\
def raises(query):
    return 1 / 0


def number(query):
    return 7


def nobody():
    return []
"""


def every() -> Iterator[tuple[str, int, list[str]]]:
    """Each line, its status, and what its message says."""
    for status in (1, 2, 3):
        for beginning, cases in ASKED[status].items():
            for more, said in cases.items():
                start, _, end = beginning.partition("*")
                yield f"{start} {more} {end}".strip(), status, said


def in_yaml() -> Iterator[tuple[str, str, int, list[str]]]:
    """What stands in place of what in riskguard.yaml, the status, and what the message says."""
    for part, others in ASKED["riskguard.yaml"].items():
        for other, (status, *said) in others.items():
            yield part, other, status, said
