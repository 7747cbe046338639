"""Per-topic scores where the data lie: a pure function of frames, for engines that work on several machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_riskguard.data import memory
from pytest_riskguard.data.given_file import AS_GIVEN, TIES, LabelRules, Ties
from pytest_riskguard.data.measures import parse_measure, provider_of
from pytest_riskguard.data.memory import InputData, is_frame
from pytest_riskguard.data.run_scores import scored_run
from pytest_riskguard.errors import QrelsFormatError, RunFormatError, UsageError


def score_frame(
    rankings: Any,
    judgements: Any,
    measures: Sequence[str],
    *,
    ties: Ties | None = None,
    labels: LabelRules | None = None,
) -> Any:
    """Per-topic scores of a frame of rankings, as a frame of the same library.

    The scores of a topic depend on its own rows alone: however queries are divided among calls, their scores are
    those of ``score_run`` on all of them, to the last bit. What only a whole run shows is not checked, such as
    document ids that are not those of the judgements, or rankings that are upside down.

    Parameters
    ----------
    rankings : frame of pandas, Polars, PyArrow, or another library that narwhals knows
        A row for each document, with columns for topic, document, and score or rank, under the names that search
        tools give them. It may have no rows.
    judgements : frame
        Columns for topic, document and grade. Those of the same topics: a topic with a relevant document that
        ``rankings`` do not answer is scored 0, and one without is left out.
    measures : sequence of str
        As ir-measures writes them: ``nDCG@10``, ``AP(rel=2)``.
    ties : 'as_returned' or 'docid', optional
        As ``run`` takes it.
    labels : LabelRules, optional
        What the settings of a ``collection`` say of judgements.

    Returns
    -------
    frame with the columns ``topic``, ``measure`` and ``value``
        A row for each measure and topic, topics sorted as text. ``read_scores`` takes it, and files of it.

    Raises
    ------
    UsageError
        A measure that does not exist or cannot be computed here.
    DataError
        A column that is missing, an id, score or grade that files could not hold, a document twice in a topic, a
        grade above the scale of a measure.
    TypeError
        What is not a frame in memory.
    """
    if ties is not None and ties not in TIES:
        raise UsageError(f"ties: expected one of {', '.join(TIES)}, found {ties!r}")
    names = [measures] if isinstance(measures, str) else list(measures)
    for name in names:
        provider_of(parse_measure(name))
    for what, frame in (("rankings", rankings), ("judgements", judgements)):
        if not is_frame(frame):
            raise TypeError(f"{what}: expected a frame, found {type(frame).__name__}")
    judged = InputData("judgements", reason=QrelsFormatError.reason)
    ranked = InputData("rankings", reason=RunFormatError.reason)
    judged.is_part = ranked.is_part = True
    judged.labels, ranked.ties = labels or AS_GIVEN, ties
    qrels = memory.judgements(judgements, judged)
    scores = scored_run(memory.rankings(rankings, ranked), qrels, names, is_part=True).scores if qrels.topics else ()
    import narwhals as nw

    library = nw.get_native_namespace(nw.from_native(rankings, eager_only=True))
    columns = {
        "topic": [topic for one in scores for topic in one.topics],
        "measure": [one.measure for one in scores for _ in one.topics],
        "value": [value for one in scores for value in one.values.tolist()],
    }
    types = {"topic": nw.String(), "measure": nw.String(), "value": nw.Float64()}
    return nw.from_dict(columns, types, backend=library).to_native()
