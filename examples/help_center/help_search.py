"""The help centre's search engine: SQLite FTS5 over articles.jsonl, in three versions.

``prod`` is what customers use today. ``synonyms`` is a change that looks like a plain win: stemming, synonyms, and
queries cleaned to words of letters, as the stemmer likes them. ``improved`` is the same change with product, part and
error codes left alone.

    python help_search.py prod > prod.run       writes a TREC run over queries.tsv (or another file named second)
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

HERE = Path(__file__).resolve().parent

#: What customers type, and what our articles say: a list as it grows out of search logs.
SYNONYMS = {
    "hoover": "vacuum",
    "hoovering": "vacuum",
    "hoovers": "vacuum",
    "smoothie": "blender",
    "liquidiser": "blender",
    "mixer": "blender",
    "espresso": "coffee",
    "fryer": "air fryer",
    "chips": "air fryer",
    "telly": "plug energy",
    "electricity": "energy",
    "charger": "dock charging",
    "base": "dock",
    "heating": "thermostat",
    "boiler": "thermostat",
    "wireless": "wi-fi",
    "wifi": "wi-fi",
    "internet": "wi-fi",
    "broadband": "wi-fi router",
    "offline": "wi-fi connection",
    "alarm": "sensor alert",
    "gadget": "device",
    "laptop": "computer browser",
    "money": "refund",
    "reimburse": "refund",
    "reimbursed": "refund",
    "send": "return",
    "sending": "return",
    "exchange": "swap",
    "postage": "delivery charges",
    "shipping": "delivery",
    "ship": "delivery",
    "shipped": "dispatched",
    "courier": "delivery driver",
    "parcel": "delivery",
    "package": "parcel delivery",
    "lost": "missing",
    "nicked": "stolen",
    "voucher": "promotional code",
    "coupon": "promotional code",
    "discount": "promotional code",
    "monthly": "instalments",
    "finance": "instalments",
    "receipt": "invoice",
    "bill": "invoice",
    "vat": "invoice",
    "rejected": "declined",
    "refused": "declined",
    "bounced": "declined",
    "login": "sign in",
    "log": "sign in",
    "signin": "sign in",
    "locked": "sign in password",
    "junk": "newsletter",
    "spam": "newsletter",
    "emails": "newsletter",
    "listening": "privacy microphone",
    "spying": "privacy",
    "broken": "faulty",
    "busted": "faulty",
    "dead": "faulty switching",
    "smashed": "damaged",
    "cracked": "damaged",
    "fixing": "repair",
    "fix": "repair",
    "mend": "repair",
    "guarantee": "warranty",
    "covered": "warranty cover",
    "insurance": "extended cover",
    "rid": "recycling disposal",
    "bin": "recycling",
    "dump": "recycling",
    "selling": "reset",
    "wipe": "factory reset",
    "limescale": "descale",
    "furred": "descale",
    "chalky": "descale",
    "bits": "limescale flakes",
    "floating": "flakes",
    "stinks": "smell",
    "stink": "smell",
    "pongs": "smell",
    "noisy": "noise loud",
    "racket": "noise loud",
    "rattling": "noise",
    "dripping": "leaking",
    "drips": "leaking",
    "sucking": "suction",
    "picking": "suction",
    "puddle": "leaking",
}

CODE = re.compile(r"[a-z]{1,3}-[a-z]?\d+[a-z]?")
# fmt: off
STOP_WORDS = {
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "can", "do", "does", "for", "from", "has", "have",
    "how", "i", "if", "in", "is", "it", "its", "just", "me", "my", "no", "not", "of", "on", "or", "so", "that",
    "the", "their", "then", "there", "this", "to", "was", "what", "when", "where", "which", "why", "will", "with",
    "you", "your",
}
# fmt: on


@dataclass(frozen=True)
class System:
    """One version of the engine: how text is cut into terms, how a query becomes terms, what a field weighs."""

    tokenizer: str
    terms: Callable[[str], list[str]]
    weights: tuple[float, float, float] = (4.0, 1.0, 2.0)


def words(query: str) -> list[str]:
    """Every word, codes such as E-07F kept whole."""
    return re.findall(r"[\w-]+", query.lower())


def expanded(query: str) -> list[str]:
    """Words of letters, function words dropped, the house words added for each of the customers'."""
    typed = [word for word in re.findall(r"[a-z]{2,}", query.lower()) if word not in STOP_WORDS]
    return typed + [house for word in typed for house in SYNONYMS.get(word, "").split()]


def expanded_but_codes(query: str) -> list[str]:
    """As ``expanded``, but a code stays one term, as it is written."""
    codes = CODE.findall(query.lower())
    return codes + expanded(CODE.sub(" ", query.lower()))


SYSTEMS = {
    "prod": System("unicode61 tokenchars '-'", words),
    "synonyms": System("porter unicode61", expanded),
    "improved": System("porter unicode61 tokenchars '-'", expanded_but_codes),
}


@lru_cache
def index(tokenizer: str) -> sqlite3.Connection:
    """All articles in an FTS5 table in memory."""
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    quoted = tokenizer.replace("'", "''")
    connection.execute(
        f"CREATE VIRTUAL TABLE article USING fts5(id UNINDEXED, title, body, tags, tokenize='{quoted}')"
    )
    with (HERE / "articles.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            article = json.loads(line)
            row = (article["id"], article["title"], article["body"], " ".join(article["tags"]))
            connection.execute("INSERT INTO article VALUES (?, ?, ?, ?)", row)
    return connection


def search(query: str, *, system: str, depth: int = 100) -> list[tuple[str, float]]:
    """The best articles for a query, as (article id, score), best first."""
    version = SYSTEMS[system]
    match = " OR ".join(f'"{term}"' for term in dict.fromkeys(version.terms(query)))
    if not match:
        return []
    rows = index(version.tokenizer).execute(
        "SELECT id, round(-bm25(article, 0, ?, ?, ?), 6) AS score FROM article WHERE article MATCH ? "
        "ORDER BY score DESC, id DESC LIMIT ?",
        (*version.weights, match, depth),
    )
    return [(str(article), float(score)) for article, score in rows]


def retrieve(query: str) -> list[tuple[str, float]]:
    """What riskguard.yaml judges: the version named by HELP_CENTER_SYSTEM, else the improvement."""
    return search(query, system=os.environ.get("HELP_CENTER_SYSTEM", "improved"))


def main() -> None:
    """Write one system's run over all queries to standard output."""
    system = sys.argv[1]
    queries = Path(sys.argv[2]) if len(sys.argv) > 2 else HERE / "queries.tsv"
    with queries.open(encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            topic, query = line.rstrip("\n").split("\t")[:2]
            for rank, (article, score) in enumerate(search(query, system=system), start=1):
                print(topic, "Q0", article, rank, f"{score:.6f}", system)


if __name__ == "__main__":
    main()
