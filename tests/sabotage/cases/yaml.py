"""riskguard.yaml: YAML's traps, wrong types and values, and gates that ask nothing."""

from __future__ import annotations

from typing import Any

from tests.sabotage.case import CLI, EVERY, PYTEST, SERIAL, Case, Sabotage
from tests.sabotage.project import YAML
from tests.sabotage.sabotages import (
    CONFIG,
    append,
    bom,
    conflict,
    crlf,
    delete,
    empty,
    fifo,
    link,
    make_folder,
    prepend,
    rename,
    replace_line,
    replace_text,
    to_link,
    truncate,
    write,
)

GATE = "  - {{name: no-risk, kind: not_significantly_risky, baseline: prod, {}}}\n"
REFUSED: dict[str, Any] = {"status": 2, "words": ["riskguard.yaml"]}
HEAD = YAML[: YAML.index("  - {")]


def gate(option: str, name: str = "", **settings: Any) -> Case:
    """A file whose one gate has an option that is refused, at its line."""
    text = HEAD + GATE.format(option)
    settings = REFUSED | {"words": ["riskguard.yaml:6"]} | settings
    return Case(name or f"gate-{option}", write(CONFIG, text), **settings)


def gates(name: str, text: str, **settings: Any) -> Case:
    """A file with this list of gates, which is refused."""
    settings = REFUSED | {"words": ["riskguard.yaml:"]} | settings
    return Case(name, write(CONFIG, HEAD + text), **settings)


def file(name: str, *breaks: Sabotage, **settings: Any) -> Case:
    """A file that is refused whole, by the command as well."""
    settings = REFUSED | settings
    return Case(name, breaks, **settings)


CASES = [
    # of a file's errors wrong values come first, then what gates ask, then what is missing
    gates(
        "wrong-values",
        "  - {name: a, kind: not_significantly_risky, baseline: nobody, alpah: 1}\n"
        "  - {name: b, kind: not_significantly_risky, baseline: prod, level: 95}\n",
        ways=PYTEST,
        words=["riskguard.yaml:6: unknown key 'alpah'", "riskguard.yaml:7: level of gate 'b'"],
    ),
    gates(
        "what-is-not-there",
        "  - {name: a, kind: not_significantly_risky, baseline: nobody}\n"
        "  - {name: b, kind: not_significantly_risky, baseline: prod, candidate: no.run}\n"
        "  - {name: c, kind: not_significantly_risky, baseline: prod, measure: NDGC@10}\n",
        ways=PYTEST,
        words=[
            "riskguard.yaml:8: gate 'c': 'NDGC@10': ir-measures knows no measure",
            "no baseline 'nobody'",
            "no.run: no such file",
        ],
    ),
    Case(
        "several-inputs-missing",
        (
            replace_text(CONFIG, "baseline: prod", "baseline: nobody"),
            replace_text(CONFIG, "runs/candidate.run", "runs/no.run"),
        ),
        ways=SERIAL,
        words=["things that are missing or unusable:", "runs/no.run: no such file", "no baseline 'nobody' is stored"],
    ),
    file("truncated", truncate(CONFIG, 0.7), words=["riskguard.yaml:"], ways=EVERY),
    file("empty", empty(CONFIG)),
    file("null", write(CONFIG, "null\n")),
    file("list", write(CONFIG, "- a\n")),
    file("folder", make_folder(CONFIG)),
    file("fifo", fifo(CONFIG), seconds=15),
    file("link-to-device", link(CONFIG, "/dev/zero"), seconds=15, megabytes=500),
    file("conflict", conflict(CONFIG), words=["riskguard.yaml:2", "merge conflict"]),
    file("latin-1", append(CONFIG, "# caf\xe9\n".encode("latin-1"))),
    file("json-broken", write(CONFIG, '{"collection": {')),
    file("tabs", replace_text(CONFIG, "  - ", "\t- ")),
    file("tag-python", replace_line(CONFIG, 2, "store: !!python/object/apply:os.system [touch pwned]")),
    file("alias", replace_line(CONFIG, 2, "store: &a baselines\nmeasures: *a")),
    file("merge-key", replace_line(CONFIG, 2, "<<: {store: baselines}")),
    file("bomb-of-aliases", prepend(CONFIG, "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nd: [*c,*c]\n")),
    file("deep", append(CONFIG, "deep: " + "[" * 5000 + "]" * 5000 + "\n"), seconds=15),
    file("second-document", append(CONFIG, "---\ngates: []\n")),
    file("key-twice", append(CONFIG, "store: elsewhere\n"), words=["riskguard.yaml:10", "store"]),
    file("gates-twice", append(CONFIG, "gates: []\n"), words=["riskguard.yaml:10", "gates"]),
    file("unknown-key", append(CONFIG, "gate: []\n"), words=["riskguard.yaml:10", "gates"]),
    file("key-with-escape", append(CONFIG, '"a\\e[2J": x\n'), words=["riskguard.yaml:10"], absent=["\x1b"]),
    file(
        "measures-unknown",
        replace_line(CONFIG, 3, "measures: [nDGC@10]"),
        words=["'nDGC@10'", "did you mean"],
        ways=SERIAL,
    ),
    file("measures-empty", replace_line(CONFIG, 3, "measures: []"), words=["riskguard.yaml:3"]),
    file(
        "measures-with-comma",
        replace_line(CONFIG, 3, "measures: [AP(rel=2,judged_only=True)]"),
        words=["riskguard.yaml:3", "quote"],
    ),
    # gates
    gates("gates-null", "", ways=SERIAL),
    gates("gates-empty", "  []\n", ways=SERIAL),
    gates("gate-a-word", "  - no-risk\n", words=["riskguard.yaml:6"]),
    gates("gate-twice", GATE.format("alpha: 1") * 2, words=["riskguard.yaml:7", "no-risk"]),
    gate("alpha: -1"),
    gate("alpha: .nan"),
    gate("alpha: [1, 1]"),
    gate(f"alpha: {10**400}", "gate-alpha-of-400-digits"),
    gate("alpah: 1", words=["riskguard.yaml:6", "alpha"]),
    gate("level: 95"),
    gate("tolerance: -0.1"),
    gate("method: magic", words=["riskguard.yaml:6", "bca"]),
    gate("on_churn: ignore", words=["riskguard.yaml:6", "warn"]),
    gate("on_inconclusive: pass", words=["riskguard.yaml:6", "warn"]),
    gate("measure: nDGC@10", ways=SERIAL, words=["did you mean"]),
    gate("slice: ''", "gate-slice-empty"),
    gate("missing: nothing"),
    gate("skip: true"),
    gate("outcome: pass"),
    # files that differ from the project's, but are valid
    Case(
        "candidate-missing",
        replace_text(CONFIG, "runs/candidate.run", "runs/no.run"),
        ways=SERIAL,
        words=["no.run", "no such file"],
    ),
    Case("no-candidate", replace_line(CONFIG, 4, "#"), ways=SERIAL, words=["candidate"]),
    Case("store-elsewhere", replace_line(CONFIG, 2, "store: nowhere"), words=["prod"]),
    Case("qrels-elsewhere", replace_text(CONFIG, "qrels.txt", "no.txt"), words=["no.txt", "no such file"]),
    Case("baseline-unknown", replace_text(CONFIG, "baseline: prod", "baseline: prdo"), ways=SERIAL, words=["prdo"]),
    Case(
        "baseline-traversal",
        replace_text(CONFIG, "baseline: prod", "baseline: ../baselines/prod"),
        ways=SERIAL,
        status=2,
        words=["riskguard.yaml:6"],
    ),
    Case("config-missing", delete(CONFIG), cli_words=["--qrels"], status=2, ways=CLI),
    Case(
        "config-option-missing",
        rename(CONFIG, "other.yaml"),
        riskguard="--riskguard -c pytest.ini",
        ways=PYTEST,
        words=["riskguard.yaml"],
        status=1,
    ),
    # another form of the same file
    file("bom", bom(CONFIG), words=["riskguard.yaml:1", "byte order mark"]),
    Case("crlf", crlf(CONFIG), status=1, words=["45 of 60 queries"]),
    Case("link-to-file", to_link(CONFIG), status=1, words=["45 of 60 queries"], ways=CLI),
]
