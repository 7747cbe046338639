"""The pytest session: gates that are left out, crash, are run again or hide, and reports that must say so."""

import json
from typing import Any

from tests.sabotage.case import Sabotage
from tests.sabotage.sabotages import CONFIG, write


def conftest(body: str) -> Sabotage:
    """Hooks of the project."""
    return write("conftest.py", f"import pytest\n\n\n{body}")


def marked(mark: str) -> Sabotage:
    """Every test gets a mark."""
    loop = "    for item in items:\n"
    return conftest(f"def pytest_collection_modifyitems(items):\n{loop}        item.add_marker({mark})\n")


def report(*gates: dict[str, Any]) -> Sabotage:
    """A JSON report with these gates and no verdict."""
    content = {
        "schema": "riskguard-report/1",
        "generated_by": "pytest-riskguard 0",
        "verdicts": [],
        "gates": list(gates),
    }
    return write("r.json", json.dumps(content))


def gate(became: str, verdicts: tuple[int, ...] = ()) -> dict[str, Any]:
    """A gate of a report."""
    place = {"id": f"{CONFIG}::a", "file": CONFIG, "line": 6}
    return place | {"became": became, "failures": 0, "verdicts": verdicts}


def flaky(how: str) -> Sabotage:
    """A test that fails the first time."""
    return write(
        "test_flaky.py",
        f"ran = []\n\n\ndef test_flaky(riskguard):\n    ran.append(1)\n    if len(ran) == 1:\n        {how}\n"
        '    riskguard.assert_not_significantly_risky(riskguard.run("runs/candidate.run"), "prod")\n',
    )
