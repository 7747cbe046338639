"""What the installed plugin adds to ``pytest --help``: alternating fresh processes with it and without it.

Run as ``python tests/benchmarks/bench_import.py [ROUNDS]``; prints processor time (user and system: other work on
the machine moves it less than wall time) in milliseconds. Other plugins are left out of both sides. A first round
only fills the cache of compiled modules. Needs a Unix.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile

WITH = ("-p", "pytest_riskguard.plugin")


def seconds(*arguments: str, folder: str, environment: dict[str, str]) -> float:
    """The processor time of one ``pytest --help``."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "pytest", "--help", *arguments],
        check=True,
        stdout=subprocess.DEVNULL,
        cwd=folder,
        env=environment,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(rounds: int) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPYCACHEPREFIX": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for arguments in ((), WITH):
            seconds(*arguments, folder=folder, environment=environment)
        without, with_plugin = [], []
        for _ in range(rounds):
            without.append(seconds(folder=folder, environment=environment))
            with_plugin.append(seconds(*WITH, folder=folder, environment=environment))
    added = [1000 * (b - a) for a, b in zip(without, with_plugin, strict=True)]
    print(f"fastest: {1000 * min(without):.1f} ms without, {1000 * min(with_plugin):.1f} ms with")
    print(f"pytest --help without the plugin: {1000 * statistics.median(without):.1f} ms (median of {rounds})")
    print(f"the plugin adds {statistics.median(added):.1f} ms (median of the differences of pairs)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
