"""Candidates that are queried live: searches that end, come late, change or flood the run."""

from __future__ import annotations

from tests.sabotage.case import PYTEST, SERIAL, Case, Sabotage, harmless
from tests.sabotage.sabotages import CONFIG, make_folder, replace_text, write

LIVE = "search:retrieve"
#: The beginning of a search that answers as the candidate's run does.
AS_IS = "from search import retrieve as answer\n"


def live(target: str, settings: str = "") -> Sabotage:
    """The candidate of riskguard.yaml is queried live."""
    return replace_text(CONFIG, "candidate: runs/candidate.run", f"candidate: {{retrieve: '{target}'{settings}}}")


def search(body: str, settings: str = "") -> tuple[Sabotage, ...]:
    """The candidate is ``retrieve`` of this module, in which ``answer`` is the search as it should be."""
    return write("own.py", AS_IS + body), live("own:retrieve", settings)


def lines(body: str, settings: str = "") -> tuple[Sabotage, ...]:
    """The candidate is one process that answers line by line; ``body`` stands before each answer."""
    program = (
        "import json, os, sys\nfrom search import retrieve\nfor number, line in enumerate(sys.stdin):\n"
        f"    asked = json.loads(line)\n    answer = {{'id': asked['id'], 'results': retrieve(asked['query'])}}\n"
        f"    {body}\n    print(json.dumps(answer), flush=True)\n"
    )
    command = f"candidate: {{command: [python, own.py]{settings}}}"
    return write("own.py", program), replace_text(CONFIG, "candidate: runs/candidate.run", command)


CASES = [
    Case("as-it-is", live(LIVE), status=1, words=["got worse", "5 failed"], ways=PYTEST),
    harmless("improvement", live(LIVE), words=["5 passed"], ways=PYTEST),
    Case("nowhere", live("nowhere:search"), words=["No module named 'nowhere'", "missing_input"], ways=SERIAL),
    Case(
        "pytest-exit",
        search("import pytest\ndef retrieve(q): pytest.exit('x', returncode=0)"),
        words=["Exit: x", "5 failed"],
        ways=PYTEST,
    ),
    *[
        Case(
            f"answers-that-call-pytest-{name}",
            search(
                f"import pytest\nclass Own({base}):\n    def {method}(self): {call}\ndef retrieve(q): return [{pair}]"
            ),
            words=[": x", "5 failed"],
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
        "pytest-exit-on-import",
        search("import pytest\npytest.exit('x', returncode=0)"),
        words=["cannot import 'own:retrieve': Exit: x", "5 failed"],
        ways=PYTEST,
    ),
    Case(
        "sys-exit", search("def retrieve(q): raise SystemExit(0)"), words=["SystemExit: 0", "5 failed"], ways=PYTEST
    ),
    Case(
        "skips",
        search("import pytest\ndef retrieve(q): pytest.skip('x')"),
        words=["Skipped: x"],
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
        "late",
        search("import time\ndef retrieve(q): time.sleep(0.6); return answer(q)", ", timeout: 0.5"),
        words=["no answer within 0.5 s", "57 topics were not queried"],
        ways=PYTEST,
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
    harmless("lines", lines("pass"), words=["5 passed"], ways=PYTEST),
    *[
        Case(f"lines-{name}", lines(body, settings), words=[*words, "57 topics were not queried"], ways=SERIAL)
        for name, body, settings, words in [
            ("exit", "os._exit(0)", "", ["ended without an answer", "exit status 0"]),
            ("another-topic", "answer['id'] = 'x'", "", ["found one to 'x'"]),
            ("hang", "import time; time.sleep(600)", ", timeout: 0.5", ["within 0.5 s; it was killed"]),
            ("chatter", "print('loading')", "", ["found 'loading"]),
        ]
    ],
    Case(
        "lines-end-badly",
        lines("if number == 69: import atexit; atexit.register(os._exit, 3)"),
        words=["it failed after its last answer (exit status 3)"],
        ways=SERIAL,
    ),
    Case(
        "answers-that-change",
        search("asked = set()\ndef retrieve(q): a = answer(q)[:: -1 if q in asked else 1]; asked.add(q); return a"),
        words=["asked twice, it answered", "make it repeatable"],
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
        "config-above-repository",
        [make_folder("inner"), make_folder("inner/.git")],
        status=2,
        command="compare ../runs/candidate.run --baseline prod",
        cwd="inner",
        words=["a run needs qrels to be scored with"],
    ),
]
