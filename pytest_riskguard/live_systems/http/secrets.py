"""Headers whose values come from the environment, and their removal from whatever a server says."""

from __future__ import annotations

import base64
import os
from typing import TYPE_CHECKING

from pytest_riskguard.errors import DataError

if TYPE_CHECKING:
    from pytest_riskguard.config.http_settings import Http, Secret

#: Shorter values occur by chance in what a server says, and protect nothing.
_MIN_LENGTH = 4
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
            user, password = http.auth.user, self._secret(http.auth.password, "auth: password")
            name = user if isinstance(user, str) else self._secret(user, "auth: user")
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
        for value in sorted(self._secrets, key=len, reverse=True):
            text = text.replace(value, _HIDDEN)
        return text

    def _secret(self, secret: Secret, where: str) -> str:
        value = os.environ.get(secret.env, "").strip()
        problem = None if value else "is not set"
        if not (value.isascii() and value.isprintable()):
            problem = "holds characters that no header can have"
        if problem is not None:
            said = f"candidate.http: {where}: the environment variable {secret.env} {problem}"
            raise DataError(said, reason="missing_input")
        if len(value) >= _MIN_LENGTH:
            self._secrets.add(value)
        return f"{secret.prefix}{value}"
