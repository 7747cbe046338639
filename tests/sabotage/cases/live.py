"""Candidates that are queried live: searches that end, come late, change or flood the run."""

from tests.sabotage.case import Sabotage
from tests.sabotage.sabotages import CONFIG, replace_text, write

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
