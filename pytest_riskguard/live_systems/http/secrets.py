"""Headers whose values come from the environment, and their removal from whatever a server says."""

from __future__ import annotations

import base64
import html
import json
import os
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

from pytest_riskguard.errors import DataError

if TYPE_CHECKING:
    from pytest_riskguard.config.http_settings import Http, Secret

#: Shorter values occur by chance in what a server says, and protect nothing.
_MIN_LENGTH = 4
#: Ids of documents may hold a shorter value by chance.
_MIN_LENGTH_IN_IDS = 16
_HIDDEN = "***"


class Headers:
    """The headers of every request.

    ``DataError``, which names only the variable, for a secret that is not set or that no header can have.
    """

    def __init__(self, http: Http) -> None:
        self._values: dict[str, str] = {}
        self._secrets: set[str] = set()
        for name, given in (http.headers or {}).items():
            self._values[name] = given if isinstance(given, str) else self._secret(given, f"headers: {name}")
        if http.auth is not None:
            user = http.auth.user
            name = user if isinstance(user, str) else self._secret(user, "auth: user")
            password = self._secret(http.auth.password, "auth: password")
            encoded = base64.b64encode(f"{name}:{password}".encode()).decode()
            self._secrets.add(encoded)
            self._values["Authorization"] = f"Basic {encoded}"

    def __repr__(self) -> str:
        return f"Headers({', '.join(self._values)})"

    def values(self) -> dict[str, str]:
        """Name -> value, with the secrets."""
        return dict(self._values)

    def hidden_in(self, text: str) -> str:
        """A text without the secrets, in case a server repeats them."""
        for value in sorted(self._spelled, key=len, reverse=True):
            text = text.replace(value, _HIDDEN)
        return text

    def hidden_in_answer(self, answer: Any) -> Any:
        """An answer of JSON whose texts are without the secrets: what is cut from it later is without them too."""
        if isinstance(answer, str):
            return self.hidden_in(answer)
        if isinstance(answer, list):
            return [self.hidden_in_answer(item) for item in answer]
        if isinstance(answer, dict):
            return {self.hidden_in(key): self.hidden_in_answer(value) for key, value in answer.items()}
        return answer

    def are_in(self, documents: Iterable[str]) -> bool:
        """Whether an id of a document, which runs and reports keep, holds a secret."""
        values = [value for value in self._spelled if len(value) >= _MIN_LENGTH_IN_IDS]
        return any(value in document for document in documents for value in values)

    @property
    def longest(self) -> int:
        """How many characters of a text one secret may take."""
        return max(map(len, self._spelled), default=0)

    @cached_property
    def _spelled(self) -> frozenset[str]:
        """The secrets as they are, and as they stand in JSON, HTML, addresses and lines with single spaces."""
        return frozenset(spelled for value in self._secrets for spelled in _spellings(value))

    def _secret(self, secret: Secret, where: str) -> str:
        value = os.environ.get(secret.env, "").strip()
        problem = None if value else "it is not set"
        if not (value.isascii() and value.isprintable()):
            problem = "it holds characters that no header can have"
        if problem is not None:
            del value  # pytest shows local variables where it is asked to
            said = f"candidate.http: {where}: set the environment variable {secret.env}; {problem}"
            raise DataError(said, reason="missing_input")
        if len(value) >= _MIN_LENGTH:
            self._secrets.add(value)
        return f"{secret.prefix}{value}"


def _spellings(value: str) -> tuple[str, ...]:
    in_json = json.dumps(value)[1:-1]
    return (
        *(value, " ".join(value.split()), html.escape(value)),
        *(in_json, json.dumps(in_json)[1:-1]),
        *(quote(value), quote(value, safe=""), quote_plus(value)),
    )
