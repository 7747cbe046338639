"""Mappings with an entry for each topic: pytrec_eval's and ranx's shape, ids in order, relevant documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from numbers import Integral
from typing import Any

from pytest_riskguard.evaluation.memory.input_data import Input
from pytest_riskguard.evaluation.memory.values import identifier, is_missing, number, shown
from pytest_riskguard.formats.columns import named, places
from pytest_riskguard.formats.measure_names import standard_name
from pytest_riskguard.formats.records import Judgement, Ranking, Records, Score, TopicRow
from pytest_riskguard.formats.score_formats import are_measures

_Data = Mapping[Any, Any]


def judgements(given: Input, data: _Data) -> Records[Judgement]:
    """Topic -> document -> grade; or topic -> the relevant documents, whose grade is 1."""
    return Records(list(_judgements(given, data)))


def _judgements(given: Input, data: _Data) -> Iterator[Judgement]:
    for key, judged in data.items():
        topic = identifier(given, None, key, "topic")
        if isinstance(judged, Mapping):
            grades = list(judged.items())
        elif isinstance(judged, set | frozenset | list | tuple):
            grades = [(document, 1) for document in judged]
        else:
            expected = "a mapping document -> grade, or a set of relevant documents"
            raise _unexpected(given, f"{expected}, for topic {topic!r}", judged)
        for document, grade in grades:
            value = number(grade)
            if value != value:
                where = f"of {document!r:.60} in topic {topic!r}"
                raise given.refuse(None, f"expected a number as the grade {where}, found {shown(grade)}")
            yield Judgement(topic, identifier(given, None, document, "document"), value)


def rankings(given: Input, data: _Data) -> Records[Ranking]:
    """Topic -> document -> score; or topic -> pairs of document and score, hits, or documents in their order."""
    rows = [_ranking(given, identifier(given, None, key, "topic"), answer) for key, answer in data.items()]
    return Records(rows, is_ordered=all(row.scores is None for row in rows))


def _ranking(given: Input, topic: str, answer: object) -> Ranking:
    if isinstance(answer, Mapping):
        pairs: list[Any] = list(answer.items())
    elif isinstance(answer, str | bytes | set | frozenset) or not isinstance(answer, Iterable):
        expected = "a mapping document -> score, or a sequence of documents"
        raise _unexpected(given, f"{expected}, for topic {topic!r}", answer)
    else:
        pairs = list(answer)
        if pairs and all(isinstance(entry, Mapping) for entry in pairs):
            pairs = [_hit(given, topic, entry) for entry in pairs]
            if all(score is None for _, score in pairs):
                pairs = [document for document, _ in pairs]
        if pairs and all(isinstance(entry, str | Integral) for entry in pairs):
            return Ranking(topic, [identifier(given, None, entry, "document") for entry in pairs])
    documents, scores = [], []
    for entry in pairs:
        try:
            document, score = entry
        except (TypeError, ValueError):
            found = f"topic {topic!r}: expected (docid, score), found {entry!r:.60}"
            raise given.refuse(None, found) from None
        value = number(score)
        if value != value:
            where = f"of {document!r:.60} in topic {topic!r}"
            raise given.refuse(None, f"expected a finite number as the score {where}, found {shown(score)}")
        documents.append(identifier(given, None, document, "document"))
        scores.append(value)
    return Ranking(topic, documents, scores)


def _hit(given: Input, topic: str, hit: Mapping[Any, Any]) -> tuple[Any, Any]:
    """The document and the score of a hit, None where it has none."""
    names = [name for name in hit if isinstance(name, str)]
    columns = places(names, ["document", "score"], "rankings")
    if "document" not in columns:
        listed = ", ".join(map(repr, names[:10]))
        problem = f"a {named(['document'], 'rankings')} in each hit of topic {topic!r}, found {listed}"
        raise given.refuse(None, f"expected {problem}")
    return hit[names[columns["document"]]], hit[names[columns["score"]]] if "score" in columns else None


def topics(given: Input, data: _Data) -> Records[TopicRow]:
    """Topic -> query text; or topic -> mapping with the text, and perhaps a weight and tags, by their names."""
    return Records([_topic(given, identifier(given, None, key, "topic"), value) for key, value in data.items()])


def _topic(given: Input, topic: str, value: object) -> TopicRow:
    if isinstance(value, str):
        return TopicRow(topic, value)
    if not isinstance(value, Mapping):
        raise _unexpected(given, f"a query text for topic {topic!r}", value)
    names = list(map(str, value))
    columns = {what: names[place] for what, place in places(names, ["query", "weight"]).items()}
    text = value.get(columns.get("query"))
    if not isinstance(text, str):
        raise _unexpected(given, f"a query text under `query` for topic {topic!r}", text)
    weight = number(value[columns["weight"]]) if "weight" in columns else None
    if weight is not None and not weight > 0:
        raise given.refuse(None, f"expected a weight above 0 for topic {topic!r}, found {value[columns['weight']]!r}")
    tags = {str(n): "" if is_missing(v) else str(v) for n, v in value.items() if str(n) not in columns.values()}
    return TopicRow(topic, text, tags, weight)


def scores(given: Input, data: _Data) -> Records[Score]:
    """Topic -> measure -> value, as pytrec_eval gives it, or measure -> topic -> value, as ranx does."""
    if data and all(isinstance(name, str) for name in data) and are_measures(data):
        by_topic: dict[Any, dict[str, Any]] = {}
        for measure, values in data.items():
            if not isinstance(values, Mapping):
                raise _unexpected(given, f"a mapping topic -> value for {measure}", values)
            for topic, value in values.items():
                by_topic.setdefault(topic, {})[measure] = value
        data = by_topic
    return Records(list(_scores(given, data)))


def _scores(given: Input, data: _Data) -> Iterator[Score]:
    for key, values in data.items():
        topic = identifier(given, None, key, "topic")
        if not isinstance(values, Mapping):
            raise _unexpected(given, f"a mapping measure -> value for topic {topic!r}", values)
        for measure, value in values.items():
            plain = number(value)
            if plain != plain:
                wanted = f"expected a finite number as the {measure} of topic {topic!r}"
                raise given.refuse(None, f"{wanted}, found {shown(value)}")
            yield Score(topic, standard_name(str(measure)), plain)


def _unexpected(given: Input, expected: str, value: object) -> Exception:
    return given.refuse(None, f"expected {expected}, found {shown(value)}")
