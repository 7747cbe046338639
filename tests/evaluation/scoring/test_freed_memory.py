"""Freed memory goes back to the system where the C library can do that, and nothing happens elsewhere."""

from __future__ import annotations

import ctypes

import pytest

from pytest_riskguard.evaluation.scoring import freed_memory


@pytest.fixture(autouse=True)
def forgetful():
    freed_memory._malloc_trim.cache_clear()
    yield
    freed_memory._malloc_trim.cache_clear()


def test_the_c_library_is_asked_for_everything(monkeypatch):
    asked: list[int] = []

    class Library:
        def __init__(self, name):
            assert name is None

        malloc_trim = staticmethod(asked.append)

    monkeypatch.setattr(ctypes, "CDLL", Library)
    freed_memory.release_freed_memory()
    assert asked == [0]


@pytest.mark.parametrize("problem", [AttributeError, OSError, TypeError])
def test_other_c_libraries_are_left_alone(monkeypatch, problem):
    def refuse(name):
        raise problem

    monkeypatch.setattr(ctypes, "CDLL", refuse)
    freed_memory.release_freed_memory()
