"""For a while: names that ``input_files`` has now."""

from pytest_riskguard.data.input_files import START_BYTES, InputFile, Misfit, imported

__all__ = ["START_BYTES", "InputFile", "Misfit", "imported"]
