"""The command ``python -m tests.benchmarks.calibration``."""

from tests.benchmarks.calibration.interval_study import main

if __name__ == "__main__":
    main()
