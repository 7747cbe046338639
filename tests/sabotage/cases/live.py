"""Candidates that are queried live: what YAML may call, and searches that end, hang, change or flood the run."""

from __future__ import annotations

from pathlib import Path

from tests.sabotage.case import CLI, PYTEST, SERIAL, Case, Sabotage, harmless
from tests.sabotage.sabotages import CONFIG, append, make_folder, on_text, rename, replace_text, write

LIVE = "search:retrieve"
#: The beginning of a search that answers as the candidate's run does.
AS_IS = "from search import retrieve as answer\n"


def queries_are(text: str) -> Sabotage:
    """The query of each topic, which the function that is named would be given."""

    def change(content: str) -> str:
        head, *lines = content.splitlines()
        return "\n".join([head, *("\t".join([line.split("\t")[0], text, "buy"]) for line in lines)]) + "\n"

    return on_text("topics.tsv", change)


def live(target: str, settings: str = "") -> Sabotage:
    """The candidate of riskguard.yaml is queried live."""
    return replace_text(CONFIG, "candidate: runs/candidate.run", f"candidate: {{retrieve: '{target}'{settings}}}")


def search(body: str, settings: str = "") -> tuple[Sabotage, ...]:
    """The candidate is ``retrieve`` of this module, in which ``answer`` is the search as it should be."""
    return write("own.py", AS_IS + body), live("own:retrieve", settings)


def forged(first: str, line: str, then: str) -> tuple[Sabotage, ...]:
    """A module that writes its own lines to every open file while it is imported, again and again."""
    write_all = "    for d in range(3, 20):\n        with contextlib.suppress(OSError): os.write(d, line)\n"
    body = f"import contextlib, os\n{first}\nline = {line}\nwhile True:\n{write_all}    {then}\n"
    return search(body, ", isolate: true")


def refused(name: str, target: str, *words: str, listed: bool = False) -> Case:
    """A function that is no search: it is not called, and the message names line and remedy."""
    breaks = [live(target), queries_are("open('ran', 'w')")]
    if listed:
        breaks.append(append(CONFIG, f"retrieve_from: ['{target}']\n"))
    words = ("riskguard.yaml:4: candidate.retrieve:", "is not called", *words)
    return Case(f"calls-{name}", breaks, words=words, ways=SERIAL)


CASES = [
    Case("as-it-is", live(LIVE), status=1, words=["got worse", "5 failed"], ways=PYTEST),
    harmless("improvement", live(LIVE), words=["5 passed"], ways=PYTEST),
    refused("exec", "builtins:exec", "Python's standard library", "name a function of your own"),
    refused("eval", "builtins:eval", "Python's standard library"),
    refused("exec-listed", "builtins:exec", "Python's standard library", listed=True),
    refused("os-system", "os:system", "Python's standard library"),
    refused("os-system-listed", "os:system", "Python's standard library", listed=True),
    refused("getoutput", "subprocess:getoutput", "Python's standard library"),
    refused("antigravity", "antigravity:fly", "Python's standard library"),
    refused("pip", "pip:main", "riskguard or its dependencies"),
    refused("numpy", "numpy:load", "riskguard or its dependencies"),
    refused("through-module", "pathlib:os.system", "Python's standard library"),
    Case(
        "calls-alias",
        [write("own.py", "from builtins import exec as retrieve\n"), live("own:retrieve")],
        words=["riskguard.yaml:4:", "builtins.exec comes with Python"],
        ways=SERIAL,
    ),
    Case(
        "calls-outside",
        [write("site-packages/shop.py", "open('imported', 'w')\n"), live("shop:search")],
        env={"PYTHONPATH": f"{Path(__file__).parents[3]}:site-packages"},
        words=["module 'shop' is not part of the project", "`retrieve_from`"],
        ways=SERIAL,
    ),
    Case("nowhere", live("nowhere:search"), words=["No module named 'nowhere'", "missing_input"], ways=SERIAL),
    Case(
        "pytest-exit",
        search("import pytest\ndef retrieve(q): pytest.exit('x', returncode=0)"),
        words=["it called pytest.exit (x)", "5 failed"],
        ways=PYTEST,
    ),
    *[
        Case(
            f"answers-that-call-pytest-{name}",
            search(
                f"import pytest\nclass Own({base}):\n    def {method}(self): {call}\ndef retrieve(q): return [{pair}]"
            ),
            words=["it called pytest.", "(x)", "5 failed"],
            ways=SERIAL,
        )
        for name, base, method, call, pair in [
            ("exit", "object", "__str__", "pytest.exit('x', returncode=0)", "(Own(), 1.0)"),
            ("skip", "float", "__float__", "pytest.skip('x')", "('d', Own())"),
        ]
    ],
    Case(
        "error-that-exits",
        search("class Own(Exception):\n    def __str__(self): raise SystemExit(0)\ndef retrieve(q): raise Own"),
        words=["its __str__ raised SystemExit", "5 failed"],
        ways=SERIAL,
    ),
    Case(
        "catches-its-interruption",
        search(
            "import time\ndef retrieve(q):\n    try: time.sleep(600)\n    except BaseException: return answer(q)",
            ", timeout: 0.5",
        ),
        words=["no answer within 0.5 s", "57 topics were not queried"],
        ways=SERIAL,
    ),
    Case(
        "pytest-exit-on-import",
        search("import pytest\npytest.exit('x', returncode=0)"),
        words=["cannot import 'own:retrieve': it called pytest.exit (x)", "5 failed"],
        ways=PYTEST,
    ),
    Case(
        "sys-exit", search("def retrieve(q): raise SystemExit(0)"), words=["SystemExit: 0", "5 failed"], ways=PYTEST
    ),
    Case(
        "sys-exit-in-threads",
        search("def retrieve(q): raise SystemExit(0)", ", workers: 4"),
        words=["SystemExit: 0", "5 failed"],
        ways=SERIAL,
    ),
    Case(
        "skips",
        search("import pytest\ndef retrieve(q): pytest.skip('x')"),
        words=["it called pytest.skip (x)"],
        ways=SERIAL,
    ),
    Case(
        "xfails",
        search("import pytest\ndef retrieve(q): pytest.xfail('x')"),
        words=["it called pytest.xfail (x)"],
        ways=SERIAL,
    ),
    Case(
        "interrupts",
        search("def retrieve(q): raise KeyboardInterrupt"),
        in_pytest=2,
        words=["KeyboardInterrupt"],
        ways=SERIAL,
    ),
    Case(
        "cancelled",
        search("import asyncio\ndef retrieve(q): raise asyncio.CancelledError"),
        words=["CancelledError"],
        ways=SERIAL,
    ),
    Case(
        "hangs-in-sleep",
        search("import time\ndef retrieve(q): time.sleep(600)", ", timeout: 0.5"),
        words=["no answer within 0.5 s (own.py:3)", "57 topics were not queried"],
        ways=PYTEST,
    ),
    Case(
        "hangs-in-loop",
        search("def retrieve(q):\n    while True: pass", ", timeout: 0.5"),
        words=["no answer within 0.5 s (own.py:3)"],
        ways=SERIAL,
    ),
    Case(
        "hangs-on-lock",
        search("import threading\nlock = threading.Lock()\ndef retrieve(q): lock.acquire()", ", timeout: 0.5"),
        words=["no answer within 0.5 s"],
        ways=SERIAL,
    ),
    Case(
        "hangs-in-threads",
        search("import time\ndef retrieve(q): time.sleep(600)", ", timeout: 0.5, workers: 4"),
        words=["no answer within 0.5 s", "its thread cannot be stopped"],
        ways=SERIAL,
    ),
    Case(
        "endless-slow-generator",
        search("import time\ndef retrieve(q):\n    while True: yield from ()", ", timeout: 0.5"),
        words=["no answer within 0.5 s"],
        ways=SERIAL,
    ),
    Case(
        "endless-generator",
        search("import itertools\ndef retrieve(q): return ((f'{q[-2:]}{i}', 1e9 - i) for i in itertools.count())"),
        words=["ids_do_not_match"],
        ways=SERIAL,
    ),
    Case(
        "huge-docid",
        search("def retrieve(q): return [('d' * 10**8, 1.0)]"),
        words=["expected ids, (docid, score)"],
        ways=SERIAL,
    ),
    Case(
        "huge-numbers",
        search("def retrieve(q): return [(10**5000, 1.0)]"),
        words=["expected ids, (docid, score)"],
        ways=SERIAL,
    ),
    Case("huge-score", search("def retrieve(q): return [('d', 10**400)]"), words=["bad_run"], ways=SERIAL),
    Case(
        "retries-without-end", live(LIVE, ", retries: 11"), words=["from 0 to 10, found the number 11"], ways=SERIAL
    ),
    Case("depth-without-end", live(LIVE, ", depth: 1e9"), words=["expected a whole number"], ways=SERIAL),
    Case("workers-without-end", live(LIVE, ", workers: 5000"), words=["from 1 to 256"], ways=SERIAL),
    harmless("no-limit", live(LIVE, ", timeout: none"), words=["5 passed"], ways=SERIAL),
    harmless(
        "own-thread",
        search(
            "import sqlite3\nconnection = sqlite3.connect(':memory:')\n"
            "def retrieve(q): connection.execute('SELECT 1'); return answer(q)"
        ),
        words=["5 passed"],
        ways=SERIAL,
    ),
    Case(
        "os-exit-isolated",
        search("import os\ndef retrieve(q): os._exit(0)", ", isolate: true"),
        words=["ended with exit status 0", "it had answered for 0 of 60 topics", "5 failed"],
        ways=PYTEST,
    ),
    Case(
        "os-exit-on-import-isolated",
        search("import os\nos._exit(0)", ", isolate: true"),
        words=["ended with exit status 0"],
        ways=SERIAL,
    ),
    Case(
        "patches-judge-isolated",
        search(
            "import numpy, pytest\nfrom pytest_riskguard.gates import judge\n"
            "from pytest_riskguard.engine import judging\n"
            "judge.judge = judging.judge = numpy.mean = None\npytest.fail = print\n"
            "def retrieve(q): return answer(q)",
            ", isolate: true",
        ),
        status=1,
        words=["got worse", "5 failed"],
        ways=SERIAL,
    ),
    Case(
        "hangs-isolated",
        search("import time\ndef retrieve(q): time.sleep(600)", ", isolate: true, timeout: 0.5"),
        words=["no answer within 0.5 s"],
        ways=SERIAL,
    ),
    Case(
        "child-outlives-isolated",
        search(
            "import os, time\ndef retrieve(q):\n    if os.fork() == 0: os.setsid(); time.sleep(45)\n    os._exit(0)",
            ", isolate: true, timeout: 0.5",
        ),
        words=["ended with exit status 0", "0 of 60 topics"],
        options="-k no-risk",
        ways=SERIAL,
    ),
    Case(
        "says-it-has-started-isolated",
        forged("import time", "b'{\"started\": true}\\n'", "time.sleep(1)"),
        words=["wrote something other than an answer"],
        options="-k no-risk",
        ways=SERIAL,
    ),
    Case(
        "forges-millions-of-results-isolated",
        forged("", 'b\'{"topic": "t01", "pairs": [\' + b\'["a",0],\' * 5_000_000 + b\'["a",0]]}\\n\'', "break"),
        words=["wrote more than", "bytes"],
        options="-k no-risk",
        megabytes=400,
        ways=SERIAL,
    ),
    Case(
        "exec-isolated",
        live("builtins:exec", ", isolate: true"),
        words=["riskguard.yaml:4: candidate.retrieve:", "is not called"],
        ways=SERIAL,
    ),
    Case(
        "answers-that-change",
        search("asked = set()\ndef retrieve(q): a = answer(q)[:: -1 if q in asked else 1]; asked.add(q); return a"),
        words=["asked twice, it answered", "`ask_twice: 0`"],
        ways=SERIAL,
    ),
    Case(
        "scores-of-1e300-and-warnings-are-errors",
        search("def retrieve(q): return [(document, score * 1e300) for document, score in answer(q)]"),
        status=1,
        words=["got worse", "5 failed"],
        options="-W error",
        ways=SERIAL,
    ),
    Case(
        "changes-folder",
        search("import os\ndef retrieve(q): os.chdir('/'); return answer(q)"),
        status=1,
        words=["got worse", "5 failed"],
        ways=SERIAL,
    ),
    Case(
        "warnings-as-errors",
        search("import warnings\ndef retrieve(q): warnings.simplefilter('error'); return answer(q)"),
        status=1,
        words=["5 failed"],
        ways=SERIAL,
    ),
    Case(
        "closes-stdout-isolated",
        search("import sys\ndef retrieve(q): sys.stdout.close(); return answer(q)", ", isolate: true"),
        status=1,
        words=["got worse", "5 failed"],
        ways=SERIAL,
    ),
    Case(
        "raises-in-thread",
        search(
            "import threading\ndef fail(): raise ValueError('in a thread')\n"
            "def retrieve(q): threading.Thread(target=fail).start(); return answer(q)"
        ),
        status=1,
        words=["got worse", "5 failed"],
        allows=["Traceback"],
        ways=SERIAL,
    ),
    Case(
        "forks",
        search("import os\ndef retrieve(q):\n    if os.fork() == 0: os._exit(0)\n    return answer(q)"),
        status=1,
        words=["got worse", "5 failed"],
        ways=SERIAL,
    ),
    Case(
        "changes-locale",
        search(
            "import locale, os\ndef retrieve(q):\n    os.environ.clear()\n"
            "    locale.setlocale(locale.LC_ALL, 'C')\n    return answer(q)"
        ),
        status=1,
        words=["5 failed"],
        ways=SERIAL,
    ),
    harmless("isolated", live(LIVE, ", isolate: true"), words=["5 passed"], ways=PYTEST),
    harmless("isolated-in-threads", live(LIVE, ", isolate: true, workers: 4"), words=["5 passed"], ways=SERIAL),
    harmless("asked-once", live(LIVE, ", ask_twice: 0"), words=["5 passed"], ways=SERIAL),
    Case(
        "config-above-repository",
        [make_folder("inner"), make_folder("inner/.git")],
        status=2,
        command="compare ../runs/candidate.run --baseline prod",
        cwd="inner",
        words=["a run needs qrels to be scored with"],
    ),
    Case(
        "config-gone", rename(CONFIG, "other.yaml"), status=2, words=["give --qrels, or a riskguard.yaml"], ways=CLI
    ),
]
