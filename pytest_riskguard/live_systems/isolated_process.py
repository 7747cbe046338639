"""The process that ``isolation`` starts: imports a search, sends queries, and writes each answer as a line of JSON.

What the search prints goes to standard error; nothing but answers reaches the pipe to the process that judges.
"""

from __future__ import annotations

import io
import json
import os
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from pytest_riskguard.config.asking import Asking
from pytest_riskguard.errors import DataError
from pytest_riskguard.live_systems.failures import failure, imported
from pytest_riskguard.live_systems.retrieval import Answer, retrieve
from pytest_riskguard.live_systems.search_import import RefusedSearchError
from pytest_riskguard.live_systems.signature import SignatureError, asked_by_topic
from pytest_riskguard.live_systems.topic import Topic


class _Pipe:
    """Messages to the process that judges."""

    def __init__(self, descriptor: int) -> None:
        self._file = os.fdopen(descriptor, "wb")
        self._lock = threading.Lock()

    def send(self, message: dict[str, Any]) -> None:
        """One line."""
        with self._lock:
            self._file.write(json.dumps(message).encode() + b"\n")
            self._file.flush()


def main() -> NoReturn:
    """Do the task on standard input, then end at once, even if threads still run."""
    pipe = _Pipe(os.dup(1))
    os.dup2(2, 1)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)  # this process ends without flushing anything
    task = json.loads(sys.stdin.buffer.read())
    sys.path[:] = task["path"]
    pipe.send({"started": True})
    try:
        _work(task, pipe)
        pipe.send({"done": True})
    except (RefusedSearchError, SignatureError) as error:
        pipe.send({"refused": str(error)})
    except DataError as error:
        pipe.send({"failed": str(error), "problem": error.problem, "reason": error.reason})
    except BaseException as error:
        text = f"the search ended with {type(error).__name__}"
        with suppress(OSError, ValueError):
            pipe.send({"failed": text, "problem": text, "reason": "bad_run"})
        os._exit(1)
    os._exit(0)


def _work(task: dict[str, Any], pipe: _Pipe) -> None:
    queries = {topic: Topic(about["text"], id=topic, tags=about["tags"]) for topic, about in task["topics"].items()}
    asking = Asking(**task["asking"])
    search = asked_by_topic(imported(task["target"], Path(task["root"]), task["listed"]), depth=asking.depth)

    def sent(topic: str, key: str, answer: Answer) -> None:
        pairs = [[str(document), float(score)] for document, score in answer.pairs]
        pipe.send({"topic": topic, key: pairs, "seconds": answer.seconds})

    retrieved = retrieve(
        search,
        queries,
        asking,
        answered=lambda topic, answer, is_second: sent(topic, "again" if is_second else "pairs", answer),
        stuck=lambda: os._exit(1),
    )
    if retrieved.failed:
        raise failure(retrieved, len(queries))


if __name__ == "__main__":
    main()
