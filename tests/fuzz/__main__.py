"""``python -m tests.fuzz READER --seconds 600``: fuzz one reader with atheris, which the group ``fuzz`` installs.

An input on which the reader crashes, hangs (10 seconds) or takes over 1 GB is written into the folder that
``--artifacts`` names; ``--replay FILE`` reads it again.
"""

import argparse
import sys
import tempfile
from pathlib import Path

MAX_INPUT_BYTES = {"report": 60_000, "manifest": 8_000}
#: Their inputs are changed as JSON, since few changes of bytes leave them JSON at all.
JSON_READERS = ("report", "manifest")
SECONDS_OF_AN_INPUT = 10
MEGABYTES = 1024


def main() -> None:
    """Fuzz until the time is over, or a finding."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("reader")
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--artifacts", type=Path, default=Path())
    parser.add_argument("--replay", type=Path)
    given = parser.parse_args()
    if given.replay is not None:
        from tests.fuzz.targets import replay

        print("read" if replay(given.reader, given.replay.read_bytes()) else "refused")
        return
    try:
        import atheris
    except ImportError:
        sys.exit("atheris is not installed: pip install --group fuzz")
    with atheris.instrument_imports(include=["pytest_riskguard", "yaml", "json", "csv", "gzip"]):
        from tests.fuzz.mutation import mutated_json
        from tests.fuzz.seeds import seeds
        from tests.fuzz.targets import TARGETS, replay
    if given.reader not in TARGETS:
        parser.error(f"expected one of {', '.join(TARGETS)}, found {given.reader!r}")
    with tempfile.TemporaryDirectory() as corpus:
        for number, seed in enumerate(seeds(given.reader)):
            (Path(corpus) / f"{number}").write_bytes(seed)
        options = [
            f"-max_total_time={given.seconds}",
            f"-timeout={SECONDS_OF_AN_INPUT}",
            f"-rss_limit_mb={MEGABYTES}",
            f"-max_len={MAX_INPUT_BYTES.get(given.reader, 4096)}",
            f"-artifact_prefix={given.artifacts}/{given.reader}-",
            "-print_final_stats=1",
        ]
        mutator = {"custom_mutator": mutated_json} if given.reader in JSON_READERS else {}
        atheris.Setup(
            [sys.argv[0], *options, corpus], lambda content: replay(given.reader, content) and None, **mutator
        )
        atheris.Fuzz()


if __name__ == "__main__":
    main()
