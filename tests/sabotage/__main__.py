"""``python -m tests.sabotage``: run the matrix, or the cases with some words in their names, and print the table."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
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
    print("\n".join(table(runs)))
    processor = sum(run.ended.processor_seconds for run in runs)
    print(f"\n{time.monotonic() - started:.0f} s, {processor:.0f} s of processor time")
    return int(any(run.problems for run in runs))


def table(runs: Iterable[Run]) -> list[str]:
    """Counts by area: cases, runs, and runs with each fault, in Markdown."""
    runs = list(runs)
    areas = sorted({run.case.name.split("/")[0] for run in runs})
    heads = ["area", "cases", "runs", *(fault.value for fault in Fault), "slowest", "most memory"]
    rows = [_row(area, [run for run in runs if run.case.name.startswith(f"{area}/")]) for area in areas]
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows, _row("all", runs)]
    return [f"| {' | '.join(line)} |" for line in lines]


def _row(area: str, runs: Sequence[Run]) -> list[str]:
    faults = [str(sum(any(fault is other for other, _ in run.problems) for run in runs)) for fault in Fault]
    slowest = max((run.ended.seconds for run in runs), default=0)
    memory = max((run.ended.megabytes for run in runs), default=0)
    cases = len({run.case.name for run in runs})
    return [area, str(cases), str(len(runs)), *faults, f"{slowest:.1f} s", f"{memory:.0f} MB"]


if __name__ == "__main__":
    sys.exit(main())
