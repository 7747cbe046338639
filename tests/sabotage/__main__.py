"""``python -m tests.sabotage``: run the matrix, or the cases with some words in their names, and count the faults."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue

from tests.sabotage import project, runner
from tests.sabotage.case import Case, Way
from tests.sabotage.cases import every_case
from tests.sabotage.prepared import Prepared
from tests.sabotage.processes import Ended
from tests.sabotage.runner import Fault, Run


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cases; 1 if anything is wrong with one."""
    parser = argparse.ArgumentParser(prog="python -m tests.sabotage", description=__doc__)
    parser.add_argument("names", nargs="*", help="words of the names of cases (AREA/NAME), default all")
    parser.add_argument("--way", choices=[way.name.lower() for way in Way], help="only this way")
    parser.add_argument("--show", action="store_true", help="print what each run printed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at once")
    options = parser.parse_args(arguments)
    cases = [case for case in every_case() if not options.names or any(name in case.name for name in options.names)]
    ways = [Way[options.way.upper()]] if options.way else list(Way)
    started = time.monotonic()
    with ExitStack() as stack:
        scratch = stack.enter_context(tempfile.TemporaryDirectory())
        project.write(Path(scratch))
        idle: SimpleQueue[Prepared] = SimpleQueue()  # each starts one run at a time
        for _ in range(options.jobs):
            idle.put(stack.enter_context(Prepared()))

        def run(pair: tuple[Case, Way]) -> Run:
            prepared = idle.get()
            try:
                ended = runner.run(*pair, Path(scratch), Path(scratch), prepared)
            except Exception as error:  # the other cases go on
                nothing = Ended(-1, "", seconds=0, processor_seconds=0, megabytes=0)
                ended = Run(*pair, nothing, [(Fault.BROKEN, f"{type(error).__name__}: {error}")])
            finally:
                idle.put(prepared)
            if ended.problems or options.show:
                print(f"{ended}\n{ended.ended.output if options.show else ''}", flush=True)
            return ended

        executor = stack.enter_context(ThreadPoolExecutor(options.jobs))
        runs = list(executor.map(run, [(case, way) for case in cases for way in case.ways if way in ways]))
    found = Counter(fault.value for run in runs for fault in {fault for fault, _ in run.problems})
    processor = sum(run.ended.processor_seconds for run in runs)
    print(f"{len(cases)} cases, {len(runs)} runs, with faults: {dict(found) or 'none'}")
    print(f"{time.monotonic() - started:.0f} s, {processor:.0f} s of processor time")
    return int(any(run.problems for run in runs))


if __name__ == "__main__":
    sys.exit(main())
