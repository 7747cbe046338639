"""``candidate:`` of a riskguard.yaml: a run, scores, or a live system: a function, a command, an engine over HTTP."""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any
from urllib.parse import parse_qsl, urlsplit

from pydantic import BeforeValidator, Discriminator, PlainValidator, Tag, model_validator

from pytest_riskguard.config.setting_types import Described, Model, Pairs, Place, Queried, TiesSetting
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.option_types import OneOf, Text, shown


def _target(name: str) -> str:
    module, _, function = name.partition(":")
    parts = [*module.split("."), *function.split(".")]
    if module.endswith(".py") or not all(part.isidentifier() and not keyword.iskeyword(part) for part in parts):
        raise ValueError(f"expected package.module:function, found {shown(name)}")
    return name


class Retrieve(Queried):
    """``candidate`` as a function, ``package.module:function``, which is queried.

    Attributes
    ----------
    retrieve
        `package.module:function`, imported when the gate runs, from the folders of pytest's `pythonpath`,
        this file's folder or `src` in it, and called for each topic.
    """

    retrieve: Annotated[str, PlainValidator(Text("package.module:function", parse=_target))]


def _command(value: Any) -> tuple[str, ...]:
    """A program and its arguments; numbers are taken as they are written."""
    if isinstance(value, list) and value and all(isinstance(part, str | int | float) for part in value):
        parts = tuple(map(str, value))
        if parts[0].strip() and not any("\0" in part for part in parts):
            return parts
    example = "[./search, --size, '{depth}']"
    raise ValueError(f"expected a list of a program and its arguments, such as {example}, found {shown(value)}")


class CommandCandidate(Queried):
    """``candidate`` as a command, which is started once and asked line by line.

    Attributes
    ----------
    command
        The program and its arguments, in which `{depth}` is replaced.
    """

    command: Annotated[tuple[str, ...], PlainValidator(_command)]

    @model_validator(mode="after")
    def _one_worker(self) -> CommandCandidate:
        if self.workers > 1:
            raise ValueError("expected `workers: 1`: one process is asked everything")
        return self


class DescribedRun(Described):
    """``candidate`` as a run file, about which there may be something to say.

    Attributes
    ----------
    run
        The run file; `FILE#PART` names one of several rankings in a file.
    format
        The name of a format, as for `qrels`.
    columns
        As for `qrels`: `{document: sku, score: points}`.
    ties
        The order of documents with equal scores: `as_returned`, or `docid`, as trec_eval does. Without
        it lists without scores keep their order.
    """

    holds, named = "rankings", "run"
    run: Place
    ties: TiesSetting | None = None

    @property
    def given(self) -> GivenFile:
        """The file and how it is read."""
        return replace(super().given, ties=self.ties)


class DescribedScores(Described):
    """``candidate`` as a file of per-topic scores; ``columns`` are pairs of a measure, or ``topic``, and a column.

    Attributes
    ----------
    scores
        The file, or `FILE#NAME`.
    format
        The name of a format of per-topic scores.
    columns
        For tables: the column of each measure to read, and of `topic`: `{topic: qid, nDCG@10: ndcg10}`.
    """

    holds, named = "scores", "scores"
    scores: Place


# Engines over HTTP: what a request to each looks like, and what a riskguard.yaml may say otherwise.

#: Neither ``{{query}}`` nor ``${query}``, which mean something to engines.
PLACEHOLDER = re.compile(r"(?<![{$])\{(query|topic|depth|tags\.[^{}]+)\}(?!\})")


def placeholders(template: object) -> frozenset[str]:
    """The names in braces of a template: JSON with texts in it."""
    return frozenset(PLACEHOLDER.findall(json.dumps(template, ensure_ascii=False)))


@frozen
class Preset:
    """How an engine is asked, in templates; a request with a body is a POST.

    ``path``, perhaps with parameters, follows the address. ``size`` is the key in a body that says how many hits are
    wanted. ``answers`` names the engine in whose format answers are read; None where the settings say how.
    """

    path: str = ""
    answers: str | None = None
    body: dict[str, Any] | None = None
    size: str | None = None


_ELASTICSEARCH = Preset(
    "_search", "elasticsearch", {"query": {"multi_match": {"query": "{query}"}}, "_source": False}, "size"
)
_VESPA = {"yql": "select * from sources * where userQuery()", "query": "{query}"}
_ALGOLIA = {"query": "{query}", "attributesToRetrieve": ["objectID"], "analytics": False}
PRESETS: Mapping[str, Preset] = {
    "elasticsearch": _ELASTICSEARCH,
    "opensearch": _ELASTICSEARCH,
    "solr": Preset("select?q={query}&fl=id,score&wt=json&rows={depth}", "solr"),
    "vespa": Preset("search/", "vespa", _VESPA, "hits"),
    "algolia": Preset("query", "algolia", _ALGOLIA, "hitsPerPage"),
    "typesense": Preset("documents/search?q={query}&include_fields=id&per_page={depth}", "typesense"),
    "meilisearch": Preset("search", "meilisearch", {"q": "{query}", "showRankingScore": True}, "limit"),
    "general": Preset(),
}


#: An environment variable, in the address and in values of headers.
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
#: Headers and parameters whose values nobody may write into a file.
_SECRET_NAME = re.compile(r"authori[sz]ation|api[-_]?key|token|secret|password|cookie|credential", re.IGNORECASE)
#: The name of a header, and its value.
_HEADER, _VALUE = re.compile(r"[!-9;-~]+"), re.compile(r"[ -~]*")


def _refuse_secret(name: str, value: str) -> None:
    """``ValueError`` for a secret, and for the beginning of a variable that none follows, which may be one too."""
    if "${" in VARIABLE.sub("", value):
        raise ValueError("expected the name of an environment variable, letters, digits and underscores, in ${NAME}")
    if _SECRET_NAME.search(name) and not VARIABLE.search(value):
        raise ValueError(f"{name}: a secret must not be in a file; write ${{NAME_OF_A_VARIABLE}}")


def parameters(address: str) -> list[tuple[str, str]]:
    """The parameters of an address."""
    return parse_qsl(address.partition("?")[2], keep_blank_values=True)


def _address(text: str) -> str:
    _refuse_secret("", text)
    known, is_right = VARIABLE.sub("1", text), False
    with suppress(ValueError):  # such as a port that is no number
        parts = urlsplit(f"http://{known}" if text.startswith("${") else known)
        is_right = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    if not is_right or "@" in parts.netloc or known.split() != [known]:
        # one that may hold a secret is not repeated
        how = " without user and password; send `Authorization: Basic ${NAME}` in `headers:`"
        found = how if "@" in text else f", found {shown(text)}"
        raise ValueError(f"expected an address such as http://localhost:9200/products{found}")
    for name, value in parameters(text):
        _refuse_secret(name, value)
    return text


def _headers(value: Any) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict):
        raise ValueError(f"expected a mapping of headers, found {shown(value)}")
    for name, text in value.items():
        if not _HEADER.fullmatch(name):
            raise ValueError(f"expected the name of a header, found {shown(name)}")
        _refuse_secret(name, str(text))
        if isinstance(text, bool) or not isinstance(text, str | int | float) or not _VALUE.fullmatch(str(text)):
            raise ValueError(f"{name}: expected a text of ASCII characters, found {shown(text)}")
    return tuple((name, str(text)) for name, text in value.items())


def _body(value: Any) -> str:
    """The template as JSON: a candidate can be a key."""
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    raise ValueError(f"expected the JSON of a request, a mapping, found {shown(value)}")


class Http(Model):
    """How an engine is asked over HTTP, and where its answers have the hits.

    Attributes
    ----------
    preset
        `elasticsearch`, `opensearch`, `solr`, `vespa`, `algolia`, `typesense`, `meilisearch` or
        `general`: it gives the defaults of the keys below.
    url
        The address, with the parameters that are to be added. Presets append their path, such as
        `/_search`, to that of the index, core or collection: `https://es.example.com/products`,
        `http://localhost:8983/solr/help?fq=shop:de`, `https://APP-dsn.algolia.net/1/indexes/products`,
        `http://localhost:8108/collections/help?query_by=title`, `http://localhost:7700/indexes/help`.
    body
        JSON, as a mapping. It replaces the preset's; `solr` and `typesense` have none, but take parameters in the
        address.
    headers
        Texts by name.
    hits
        Where an answer has its hits, in JMESPath: a list of ids, or of objects with `id` and perhaps `score`.
        Without scores the order counts.
    """

    preset: Annotated[str, PlainValidator(OneOf(tuple(PRESETS)))] = "general"
    url: Annotated[str, PlainValidator(Text("an address", parse=_address))]
    body: Annotated[str | None, PlainValidator(_body)] = None
    headers: Annotated[Pairs, PlainValidator(_headers)] = ()
    hits: Annotated[str, PlainValidator(Text("a JMESPath expression"))] | None = None

    @property
    def request(self) -> Preset:
        """The template of the preset."""
        return PRESETS[self.preset]

    @property
    def params(self) -> dict[str, Any]:
        """The preset's parameters, without those that the address has."""
        own = dict(parameters(self.url))
        return {name: value for name, value in parameters(self.request.path) if name not in own}

    @model_validator(mode="after")
    def _is_whole(self) -> Http:
        if self.preset == "general" and self.hits is None:
            raise ValueError("expected `hits:`, the JMESPath of the hits in the answer, found none")
        if self.body and self.request.path and not self.request.body:
            raise ValueError(f"{self.preset} takes no `body:`; put its parameters into `url:`")
        return self


class HttpCandidate(Queried):
    """``candidate`` as an engine that is queried over HTTP.

    Attributes
    ----------
    http
        How the engine is asked, a mapping.
    """

    http: Http


# Any of them.

#: The key that says which form a mapping has, and its model; of several keys the first one counts.
FORMS: Mapping[str, type[Model]] = {
    "retrieve": Retrieve,
    "run": DescribedRun,
    "scores": DescribedScores,
    "http": HttpCandidate,
    "command": CommandCandidate,
}


def form_of(value: Any) -> str:
    """The key of ``FORMS`` that a mapping has; that of a function if it has none."""
    return next((key for key in FORMS if key in value), "retrieve")


def key_of(candidate: Model) -> str:
    """The key of ``FORMS`` that a candidate has."""
    return next(key for key, form in FORMS.items() if isinstance(candidate, form))


# The tags stand in the path of pydantic's errors: no key looks like them.
Candidate = Annotated[
    Annotated[Retrieve, Tag("<retrieve>")]
    | Annotated[DescribedRun, Tag("<run>")]
    | Annotated[DescribedScores, Tag("<scores>")]
    | Annotated[HttpCandidate, Tag("<http>")]
    | Annotated[CommandCandidate, Tag("<command>")],
    Discriminator(lambda value: f"<{form_of(value)}>"),
    BeforeValidator(lambda value: value if isinstance(value, dict) else {"run": value}),
]


def file_of(candidate: Model | None) -> GivenFile | None:
    """The run or the scores that a candidate is, and how the file is read; None for a live system."""
    return candidate.given if isinstance(candidate, Described) else None
