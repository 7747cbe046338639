"""From riskguard.yaml to typed settings; every error carries the file and the line.

Importing this package loads neither YAML nor pydantic: both come in with the first file.
"""

from pytest_riskguard.config.load import CONFIG_NAME, find_config, load_config
from pytest_riskguard.config.settings import (
    CandidateFile,
    CandidateRetrieve,
    Collection,
    Config,
    GateSettings,
)

__all__ = [
    "CONFIG_NAME",
    "CandidateFile",
    "CandidateRetrieve",
    "Collection",
    "Config",
    "GateSettings",
    "find_config",
    "load_config",
]
