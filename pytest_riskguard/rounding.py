"""How close two numbers must be to count as the same."""

from __future__ import annotations

#: Numbers that differ by no more than this are the same: less than this is rounding. It applies to scores, means and
#: limits in units of the measure; kernels that work on any scale take it as a share of that scale.
ROUNDING_ERROR = 1e-12
