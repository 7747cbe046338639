"""The command ``riskguard``, which judges gates outside pytest; and the parts that plugins make commands of.

``Inputs`` and the options load on first use, so that listing commands costs little.
"""

from typing import TYPE_CHECKING

from pytest_riskguard.cli.main import LazyCommand, main  # noqa: F401 - the command's entry point
from pytest_riskguard.lazily import lazily

if TYPE_CHECKING:
    from pytest_riskguard.cli.inputs import Inputs, system_options
    from pytest_riskguard.cli.output import Outputs, output_options

__all__ = ["Inputs", "LazyCommand", "Outputs", "output_options", "system_options"]

__getattr__ = lazily(__name__, {"cli.inputs": "Inputs system_options", "cli.output": "Outputs output_options"})
