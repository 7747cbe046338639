"""Gates on runs that were scored before: every report is the same to the byte, whatever the cache holds."""

from __future__ import annotations

from pytest_riskguard.evaluation.cache.cache_folder import VARIABLE, CacheFolder
from tests.plugin import world

YAML = """\
collection: {qrels: qrels.txt, topics: topics.tsv}
store: baselines
measures: [AP, nDCG@10]
candidate: candidate.run
gates:
  - {name: no-risk, kind: not_significantly_risky, baseline: prod, alpha: 1}
  - {name: not-inferior, kind: not_inferior, baseline: prod, tolerance: 0.1}
"""


def test_reports_do_not_depend_on_the_cache(pytester, project, tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    folder, cache = project("loss"), CacheFolder(tmp_path / "cache")
    (folder / "riskguard.yaml").write_text(YAML)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")
    # files that have just been written count as having rested
    monkeypatch.setattr("pytest_riskguard.evaluation.cache.file_digests.RESTING_NS", -(10**15))

    def report(*options: str) -> str:
        pytester.runpytest_inprocess("--riskguard", "--riskguard-report=r.json", "-p", "no:cacheprovider", *options)
        return (folder / "r.json").read_text(encoding="utf-8")

    uncached = report("--riskguard-no-cache")
    assert not cache.entries()
    assert report() == uncached
    assert cache.entries()
    assert report() == uncached
    world.write_run(folder / "candidate.run", world.GOOD)
    changed = report()
    assert changed != uncached
    assert report("--riskguard-no-cache") == changed
