"""Texts that are near copies of each other: the same words in any order, or all but a few of them.

Words are compared after NFKC and case folding; in scripts that leave no space between words, such as Chinese, pairs
of neighbouring characters stand for words. Texts are near copies if at least four fifths of all words of both are in
both (Jaccard), and all words with a digit are: "iphone 12" is no copy of "iphone 13". A text without words has none.

Only texts that share one of their rarest words are compared, as all near copies do (prefix filtering: R. Bayardo,
Y. Ma and R. Srikant, "Scaling up all pairs similarity search", WWW 2007). Work per text is bounded: where many texts
share their rare words, and in texts of more than 39 words, copies may be missed unless their words are all the same,
or all but one that a text of up to 39 words has more.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence

#: Texts are near copies if they share at least 4 of 5 words: in whole numbers, so that no rounding decides.
SHARED, OF = 4, 5
#: A text is compared with so many others that share a rare word ...
_NEIGHBOURS = 16
#: ... for each of so many of its rarest words.
_RARE = 8
#: A text of more words is compared with fewer others, as each takes longer.
_LONG = 39
#: Scripts without spaces between words: Thai, Lao, Burmese, Khmer, kana, Chinese characters; without their digits.
_UNSPACED = (
    "\u0e01-\u0e4f\u0e81-\u0ecf\u1000-\u103f\u1050-\u108f\u1780-\u17df"
    "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_WORDS = re.compile(f"[{_UNSPACED}]+|[^ {_UNSPACED}]+")
_ASCII_WORDS = re.compile("[a-z0-9]+")
_DIGIT = re.compile(r"\d")


class _WordCharacters(dict[int, str]):
    """What ``str.translate`` makes of a character: letters, marks and numbers stay, the rest separates words."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        # re's \w would split words of Hindi, Tamil and others at their vowel signs
        self[code] = character if unicodedata.category(character)[0] in "LMN" else " "
        return self[code]


_WORD_CHARACTERS = _WordCharacters()


def words_of(text: str) -> frozenset[str]:
    """The words of a text, without regard to case, order or how often they occur."""
    return frozenset(_words(text))


def _words(text: str) -> list[str]:
    if text.isascii():
        return _ASCII_WORDS.findall(text.lower())
    # case folding may leave what NFKC composes
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    words = []
    for word in _WORDS.findall(folded.translate(_WORD_CHARACTERS)):
        is_unspaced = len(word) > 2 and re.match(f"[{_UNSPACED}]", word)
        words += [word[i : i + 2] for i in range(len(word) - 1)] if is_unspaced else [word]
    return words


def near_copies(texts: Sequence[str]) -> list[tuple[int, ...]]:
    """The places of texts that are near copies, in groups of two or more; a copy of a copy belongs to the group.

    Places ascend within a group, and groups by their first place. The same texts in another order form the same
    groups.
    """
    places: dict[str, list[int]] = {}
    for place, text in enumerate(texts):
        # as one string, which takes a third of the memory of a set
        if key := " ".join(sorted({*_words(text)})):
            places.setdefault(key, []).append(place)
    keys = sorted(places)
    leaders = list(range(len(keys)))
    for one, other in _alike(keys):
        first, second = _leader(leaders, one), _leader(leaders, other)
        leaders[max(first, second)] = min(first, second)
    groups: dict[int, list[int]] = {}
    for number, key in enumerate(keys):
        groups.setdefault(_leader(leaders, number), []).extend(places[key])
    return sorted(tuple(sorted(group)) for group in groups.values() if len(group) > 1)


def _leader(leaders: list[int], number: int) -> int:
    """The first of the group that a number belongs to."""
    while leaders[number] != number:
        leaders[number] = number = leaders[leaders[number]]
    return number


def _alike(keys: list[str]) -> Iterator[tuple[int, int]]:
    """Pairs of different sets of words, by number, that are near copies; not every pair of a group."""
    yield from _with_a_word_more(keys)
    for bucket in _buckets(keys):
        sets = [frozenset(keys[number].split(" ")) for number in bucket]
        for i, words in enumerate(sets):
            most = len(words) * OF // SHARED
            neighbours = max(_NEIGHBOURS * _LONG**2 // max(len(words), _LONG) ** 2, 1)
            for j in range(i + 1, min(i + 1 + neighbours, len(bucket))):
                if len(sets[j]) > most:
                    break
                shared = len(words & sets[j])
                is_alike = OF * shared >= SHARED * (len(words) + len(sets[j]) - shared)
                if is_alike and not any(map(_DIGIT.search, words ^ sets[j])):
                    yield bucket[i], bucket[j]


def _with_a_word_more(keys: list[str]) -> Iterator[tuple[int, int]]:
    """Pairs of which one has a word more, and no digit in it: found however many texts share their words."""
    numbers = {key: number for number, key in enumerate(keys)}
    for number, key in enumerate(keys):
        words = key.split(" ")
        if not OF <= len(words) <= _LONG:
            continue
        for i, word in enumerate(words):
            fewer = numbers.get(" ".join(words[:i] + words[i + 1 :]))
            if fewer is not None and not _DIGIT.search(word):
                yield fewer, number


def _buckets(keys: list[str]) -> Iterator[list[int]]:
    """Numbers of sets that share one of their rarest words, by size.

    Sets that share 4 of 5 words share one of the rarest of each, by an order of all words: of n words, these are all
    but the most frequent 4n/5 (rounded up) - 1.
    """
    frequency = Counter(word for key in keys for word in key.split(" "))
    order = {word: rank for rank, word in enumerate(sorted(frequency, key=lambda word: (frequency[word], word)))}
    buckets: dict[str, list[int]] = {}
    for number, key in enumerate(keys):
        words = key.split(" ")
        if len(words) < SHARED:
            continue  # only the same words would do
        words.sort(key=order.__getitem__)
        rarest = words[: len(words) - math.ceil(SHARED * len(words) / OF) + 1]
        for word in [word for word in rarest if frequency[word] > 1][:_RARE]:
            buckets.setdefault(word, []).append(number)
    for bucket in buckets.values():
        if len(bucket) > 1:
            yield sorted(bucket, key=lambda number: (keys[number].count(" "), number))  # numbers follow the words
