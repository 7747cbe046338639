"""Processor time and memory of whole processes, on generated files.

python -m tests.benchmarks.scale                     both tables, about 15 minutes on two cores
python -m tests.benchmarks.scale --only formats      one of them
python -m tests.benchmarks.scale --small             tiny files, for results rather than times
python -m tests.benchmarks.scale --write             also writes the tables of docs/performance.md

comparing: ``riskguard compare`` that fails, with all that it explains, beside the two commands of ir_measures that
score both runs, and a script that scores them in one process. formats: one run, and one file of judgements, in
several formats. Files are generated in --folder and kept there (2 GB).
"""

import argparse
import csv
import io
import os
import platform
import shlex
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from tests.benchmarks.scale.measuring import ROOT, NotMeasuredError, alternately, run

DATA = ROOT / "docs" / "data" / "performance"
PYTHON = (sys.executable, "-W", "ignore")
#: Topics and depth, the measures, and at most how many times the processor time of a script of ir_measures.
SIZES = (
    (250, 100, ("nDCG@10",), 1.5),
    (1_000, 100, ("nDCG@10",), 0.9),
    (7_000, 1_000, ("nDCG@10", "AP", "RR"), 0.33),
    (100_000, 100, ("nDCG@10", "AP", "RR"), 0.4),
)
SMALL = ((60, 20, ("nDCG@10",), None),)
#: A million rows of a run, and as many judgements; at most how many times the processor time of TREC's text.
RUN, JUDGEMENTS, FEW = (1_000, 1_000), (100_000, 100), (60, 20)
FORMATS = {"parquet": 1.2, "arrow": 1.2, "csv": 3.0, "jsonl": 3.0}
PACKAGES = ("pytest-riskguard", "numpy", "ir-measures", "pytrec-eval-terrier", "pyarrow")

IR_MEASURES = """
import sys, ir_measures
qrels, baseline, candidate, *names = sys.argv[1:]
measures = [ir_measures.parse_measure(name) for name in names]
judged = list(ir_measures.read_trec_qrels(qrels))
for run in (baseline, candidate):
    means = ir_measures.calc_aggregate(measures, judged, ir_measures.read_trec_run(run))
    print({str(measure): round(mean, 6) for measure, mean in sorted(means.items(), key=str)})
"""
OURS = """
import sys
from pytest_riskguard import score_run
qrels, baseline, candidate, *names = sys.argv[1:]
for run in (baseline, candidate):
    means = {str(scores.measure): float(scores.mean) for scores in score_run(run, qrels, names)}
    print({measure: round(mean, 6) for measure, mean in sorted(means.items())})
"""
COMPARE = "from pytest_riskguard.cli import main; main()"
READ = {
    "run": "import sys; from pytest_riskguard import score_run; "
    "print([round(s.mean, 9) for s in score_run(sys.argv[1], sys.argv[2], ['nDCG@10'])])",
    "judgements": "import sys; from pytest_riskguard.data import read_qrels; "
    "print(len(read_qrels(sys.argv[1]).topics))",
}


def comparing(folder: Path, small: bool, rounds: int) -> str:
    """A comparison that fails beside ir_measures, which must find the same means."""
    rows = []
    for topics, depth, measures, limit in SMALL if small else SIZES:
        files = generated(folder, topics, depth)
        qrels, baseline, candidate = (
            str(files / name) for name in ("judgements.qrels", "baseline.run", "candidate.run")
        )
        options = [part for measure in measures for part in ("--measure", measure)]
        given = (candidate, "--baseline", baseline, "--qrels", qrels, *options)
        scored = (qrels, baseline, candidate, *measures)
        one_each = [(*PYTHON, "-m", "ir_measures", qrels, run, *measures) for run in (baseline, candidate)]
        measured = alternately(
            {
                "riskguard compare": (*PYTHON, "-c", COMPARE, "compare", *given),
                "ir_measures, a command for each run": ("sh", "-c", " && ".join(map(shlex.join, one_each))),
                "ir_measures, both runs in a script": (*PYTHON, "-c", IR_MEASURES, *scored),
            },
            rounds=rounds,
        )
        compared, _, scripted = measured.values()
        if not small and compared.status != 1:
            raise NotMeasuredError(f"expected a comparison of {topics} topics that fails, found one that passes")
        check_means(scripted.output, run("scoring", (*PYTHON, "-c", OURS, *scored)).output)
        for name, one in measured.items():
            ratios = (figures(one.seconds / scripted.seconds), figures(one.megabytes / scripted.megabytes))
            most = limit if one is compared and limit else ""
            row = (f"{topics:,} x {depth:,}", " ".join(measures), name, figures(one.seconds), round(one.megabytes))
            rows.append((*row, *ratios, most))
    return as_csv(
        ("topics x depth", "measures", "what", "seconds", "MB", "time ratio", "memory ratio", "limit"), rows
    )


def formats(folder: Path, small: bool, rounds: int) -> str:
    """A run scored, and judgements read, from each format."""
    rows = []
    sizes = (FEW, FEW) if small else (RUN, JUDGEMENTS)
    for what, name, size in zip(READ, ("candidate.run", "judgements.qrels"), sizes, strict=True):
        files = generated(folder, *size)
        text = files / name
        if not text.with_suffix(".jsonl").exists():
            run("formats", (*PYTHON, "-m", "tests.benchmarks.scale.generated_runs", "formats", str(text), name[-3:]))
        files_by_format = {"TREC": text} | {suffix: text.with_suffix(f".{suffix}") for suffix in FORMATS}
        qrels = str(files / "judgements.qrels")
        measured = alternately(
            {form: (*PYTHON, "-c", READ[what], str(file), qrels) for form, file in files_by_format.items()},
            rounds=rounds,
        )
        if len({one.output for one in measured.values()}) > 1:
            raise NotMeasuredError(f"{what}: expected the same from each format, found {measured}")
        for form, one in measured.items():
            ratio = figures(one.seconds / measured["TREC"].seconds)
            rows.append((what, form, figures(one.seconds), round(one.megabytes), ratio, FORMATS.get(form, "")))
    return as_csv(("what", "format", "seconds", "MB", "time ratio", "limit"), rows)


TABLES: Mapping[str, Callable[[Path, bool, int], str]] = {"comparing": comparing, "formats": formats}


def generated(folder: Path, topics: int, depth: int) -> Path:
    """The folder of a collection, written unless it is there; by another process, to keep this one small."""
    target = folder / f"{topics}x{depth}"
    if not (target / "judgements.qrels").exists():
        arguments = ("collection", str(target), str(topics), str(depth))
        run("generated", (*PYTHON, "-m", "tests.benchmarks.scale.generated_runs", *arguments))
    return target


def check_means(theirs: str, ours: str) -> None:
    """``NotMeasuredError`` unless both scored alike."""
    if theirs != ours:
        raise NotMeasuredError(f"expected the means of ir_measures, found others:\n{theirs}\n{ours}")


def machine() -> str:
    """The machine and the versions."""
    rows = [("processor", _processor()), ("usable cores", len(os.sched_getaffinity(0)))]
    rows += [("system", platform.system()), ("Python", platform.python_version())]
    return as_csv(("what", "version"), [*rows, *((package, version(package)) for package in PACKAGES)])


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def figures(value: float) -> str:
    """Two decimals, or two figures below 0.1."""
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def as_csv(header: Sequence[object], rows: Sequence[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=TABLES, action="append", help="a table; repeatable")
    parser.add_argument("--small", action="store_true", help="tiny files")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir(), "riskguard-scale"))
    parser.add_argument("--write", action="store_true", help="write the tables of docs/performance.md")
    options = parser.parse_args(arguments)
    for name in options.only or TABLES:
        table = TABLES[name](options.folder, options.small, options.rounds)
        print(f"{name}\n\n{table}", flush=True)
        if options.write:
            DATA.mkdir(parents=True, exist_ok=True)
            (DATA / f"{name}.csv").write_text(table, encoding="utf-8", newline="\n")
            (DATA / "machine.csv").write_text(machine(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
