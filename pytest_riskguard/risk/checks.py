"""Checks of arrays and parameters that the kernels share."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

#: Numbers that differ by no more than this are the same, up to rounding. It applies to scores, means and limits in
#: units of the measure; kernels that work on any scale take it as a share of that scale.
ROUNDING_ERROR = 1e-12
#: Up to this many numbers are summed one by one. More are summed in blocks, of fewer numbers than two to this power,
#: in at most so many parts.
FEW_NUMBERS, BLOCK, BLOCK_BITS, MAX_PARTS = 4096, 2**14 - 2, 14, 5
#: Binary digits of a float, and the largest power of two that is one.
DIGITS, MAX_EXPONENT = 53, 1023
#: Values beyond this are refused: sums of their cubes would overflow, and no measure of ranking comes near.
MAX_SIZE = 1e100


def per_topic(values: npt.ArrayLike, *, name: str, at_least: int = 1) -> FloatArray:
    """The values as a vector of finite floats, ``at_least`` this many, none beyond 1e100 in size; else ValueError."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one axis (topics), got shape {array.shape}")
    if array.size < at_least:
        raise ValueError(f"{name} must hold at least {at_least} topics, got {array.size}")
    wrong = ~(np.abs(array) <= MAX_SIZE)  # which NaN is not
    if np.any(wrong):
        raise ValueError(f"{name} must be finite and at most {MAX_SIZE:g} in size, got {array[wrong][0]}")
    return array


def systems_by_topics(values: npt.ArrayLike, *, name: str = "scores", at_least: int = 2) -> FloatArray:
    """The values as a matrix of finite floats, a row for each system and a column for each topic; else ValueError."""
    array = np.asarray(values, dtype=np.float64) + 0.0  # which turns -0 into 0
    if array.ndim != 2:
        raise ValueError(f"{name} must have two axes (systems, topics), got shape {array.shape}")
    systems, topics = array.shape
    if systems < at_least:
        raise ValueError(f"{name} must hold at least {at_least} systems, got {systems}")
    if topics < 1:
        raise ValueError(f"{name} must hold at least 1 topics, got {topics}")
    refuse(array, ~(np.abs(array) <= MAX_SIZE), f"{name} must be finite and at most {MAX_SIZE:g} in size")
    return array


def refuse(array: FloatArray, where: BoolArray, expected: str) -> None:
    """ValueError with what was expected of a matrix of systems x topics, and the first cell that breaks it."""
    if np.any(where):
        system, topic = np.argwhere(where)[0]
        raise ValueError(
            f"{expected}, got {array[system, topic]} for system {system}, topic {topic} (counted from 0)"
        )


def between_0_and_1(value: float, *, name: str) -> None:
    """ValueError unless the value lies strictly between 0 and 1."""
    if not 0 < value < 1:
        raise ValueError(f"{name} must be between 0 and 1, got {value!r}")


def loss_weight(alpha: float) -> float:
    """The extra weight of a loss, checked."""
    if not (math.isfinite(alpha) and alpha >= 0):
        raise ValueError(f"alpha must be finite and at least 0, got {alpha!r}")
    return float(alpha)


def mean(values: FloatArray) -> float:
    """The mean by an exactly rounded sum, so that the order of topics cannot move it."""
    return exact_sum(values) / values.size


def exact_sum(values: FloatArray) -> float:
    """The sum of a vector, rounded once: the same for every order, and ``math.fsum`` to the bit.

    Long vectors are cut into parts: multiples of a power of two so large that their sum is never rounded, then what
    is left of each number, until nothing is left.

    References
    ----------
    S. M. Rump, T. Ogita, S. Oishi, "Accurate floating-point summation part I: faithful rounding", SIAM Journal on
    Scientific Computing 31 (2008), section 3.
    """
    if values.size <= FEW_NUMBERS:
        return math.fsum(values.tolist())
    sums: list[float] = []
    part, left = np.empty(BLOCK), np.empty(BLOCK)  # used for each block again: new memory takes longer than sums
    for start in range(0, values.size, BLOCK):
        rest = values[start : start + BLOCK]
        part, left = part[: rest.size], left[: rest.size]
        largest = max(float(rest.max()), -float(rest.min()))
        unit = math.ldexp(1.0, min(math.frexp(largest)[1] + BLOCK_BITS, MAX_EXPONENT))
        for _ in range(MAX_PARTS):
            np.add(rest, unit, out=part)
            np.subtract(part, unit, out=part)
            sums.append(float(part.sum()))
            rest = np.subtract(rest, part, out=left)
            if not rest.any():
                break
            unit *= 2.0 ** (BLOCK_BITS - DIGITS)
        else:
            sums.extend(rest.tolist())
    return math.fsum(sums)
