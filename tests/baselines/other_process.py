"""Another process that writes to a store, and dies in the middle if it is asked to.

It is forked from a process that has imported the package, so that it starts in a tenth of the time.
"""

import multiprocessing
import os
import signal
import sys
from pathlib import Path
from typing import Any

from pytest_riskguard.baselines.store import Store

if sys.platform == "win32":  # which has no fork
    CONTEXT = multiprocessing.get_context("spawn")
else:
    CONTEXT = multiprocessing.get_context("forkserver")
    CONTEXT.set_forkserver_preload([__name__, "pytest_riskguard.data.run_scores"])
#: What Python reports to audit hooks before it changes or reads a folder or opens a file.
_STEPS = frozenset(
    {"open", "os.listdir", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.scandir", "shutil.rmtree"}
)


class Writer:
    """Does ``what`` to a baseline: ``add``, ``update`` or ``rescore``; it ends with 0 if the store took it.

    With ``dies_at`` it kills itself before this step, counted from 1.
    """

    def __init__(
        self, store: Store, run: Path, qrels: Path, what: str, name: str = "prod", *, dies_at: int = 0
    ) -> None:
        self.begun, self.steps = CONTEXT.Event(), CONTEXT.Value("i", 0)
        arguments = (store.root, run, qrels, what, name, dies_at, self.begun, self.steps)
        self.process = CONTEXT.Process(target=_write, args=arguments)
        self.process.start()

    def ended(self) -> int | None:
        """The exit status, 0 where all went well."""
        self.process.join(timeout=120)
        return self.process.exitcode


def _write(root: Path, run: Path, qrels: Path, what: str, name: str, dies_at: int, begun: Any, steps: Any) -> None:
    store = Store(root)

    def hook(event: str, _: tuple[Any, ...]) -> None:
        if event in _STEPS:
            steps.value += 1
            if dies_at == steps.value:
                os.kill(os.getpid(), signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)

    sys.addaudithook(hook)
    begun.set()
    if what == "rescore":
        store.rescore(name, qrels=qrels, topics=None)
    else:
        getattr(store, what)(name, run, qrels=qrels, topics=None, measures=["AP"])
