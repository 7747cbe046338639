"""How a live system of any kind is queried: the checks of these options, and their keys in ``candidate:``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import PlainValidator

from pytest_riskguard.config.asking import (
    ASK_TWICE,
    MAX_ASK_TWICE,
    MAX_DEPTH,
    MAX_RATE,
    MAX_RETRIES,
    MAX_WORKERS,
    TIMEOUT,
)
from pytest_riskguard.config.setting_types import Metadata, Model, TiesSetting
from pytest_riskguard.config.value_checks import whole
from pytest_riskguard.gates.option_types import Number

MAX_TIMEOUT = 86400

_SECONDS = f"a number of seconds above 0, at most {MAX_TIMEOUT}, or none for no limit"
_RATE = f"a number of queries a second above 0, at most {MAX_RATE}"
_limit = Number(math.nextafter(0, 1), MAX_TIMEOUT, optional=True, words=_SECONDS)
#: Checks of the options for asking a live system.
ASKING: Mapping[str, Callable[[Any], Any]] = {
    "depth": whole(1, at_most=MAX_DEPTH),
    "workers": whole(1, at_most=MAX_WORKERS),
    "timeout": lambda value: None if value == "none" else _limit(value),
    "retries": whole(0, at_most=MAX_RETRIES),
    "rate": Number(math.nextafter(0, 1), MAX_RATE, optional=True, words=_RATE),
    "ask_twice": whole(0, at_most=MAX_ASK_TWICE),
}


class Queried(Model):
    """How a live system is queried; see ``config.asking``."""

    depth: Annotated[int, PlainValidator(ASKING["depth"])] = 100
    workers: Annotated[int, PlainValidator(ASKING["workers"])] = 1
    timeout: Annotated[
        float | None, PlainValidator(ASKING["timeout"], json_schema_input_type=float | Literal["none"])
    ] = TIMEOUT
    retries: Annotated[int, PlainValidator(ASKING["retries"])] = 0
    rate: Annotated[float | None, PlainValidator(ASKING["rate"])] = None
    ask_twice: Annotated[int, PlainValidator(ASKING["ask_twice"])] = ASK_TWICE
    ties: TiesSetting = "as_returned"
    metadata: Metadata = ()
