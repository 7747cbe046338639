"""Honest use, which must stay green; and the regression under the same use, which must stay red."""

import re
import shutil
from pathlib import Path

from tests.sabotage.case import Sabotage
from tests.sabotage.processes import CHECKOUT
from tests.sabotage.sabotages import (
    replace_text,
    run_program,
)

#: Killed between its two renames.
interrupted = run_program(
    'python -c "import os; from pathlib import Path; from pytest_riskguard.baselines.atomic_folder import '
    "replaced; work = replaced(Path('baselines'), 'prod'); new = work.__enter__(); "
    "Path('baselines/prod').rename('baselines/.tmp-old-prod'); os._exit(0)\""
)


def moved(name: str) -> Sabotage:
    """The whole project in another folder."""

    def sabotage(folder: Path) -> None:
        entries = list(folder.iterdir())
        (folder / name).mkdir()
        for entry in entries:
            entry.rename(folder / name / entry.name)

    return sabotage


def help_center(folder: Path) -> None:
    """The shipped example in place of the project."""
    for entry in folder.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    ignore = shutil.ignore_patterns("__pycache__", ".pytest_cache")
    shutil.copytree(CHECKOUT / "examples/help_center", folder / "help_center", ignore=ignore)


def tutorial(version: str) -> list[Sabotage]:
    """The tutorial's shop, its files written and its baseline stored as the page says."""

    def shop(folder: Path) -> None:
        page = (CHECKOUT / "docs" / "tutorial.md").read_text(encoding="utf-8")
        (folder / "shop").mkdir()
        code = re.search(r"<!-- file: shop\.py -->\n```python\n(.*?)```", page, re.DOTALL)
        (folder / "shop" / "shop.py").write_text(code[1], encoding="utf-8")

    commands = [
        "python shop.py topics > topics.tsv",
        "python shop.py qrels > qrels.txt",
        "python shop.py as_typed > prod.run",
        "riskguard init --topics topics.tsv --candidate candidate.run",
        "riskguard baseline add prod prod.run --note 'in production since January'",
        f"python shop.py {version} > candidate.run",
    ]
    strict = replace_text("shop/riskguard.yaml", "on_churn: warn", "on_churn: fail")
    return [shop, *(run_program(command, cwd="shop") for command in commands), strict]
