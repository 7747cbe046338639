"""Baselines at an address are those that the digest behind it pins, or nothing is judged."""

from __future__ import annotations

import shutil
from pathlib import Path

import fsspec
import pytest

from pytest_riskguard.baselines import remote_stores
from pytest_riskguard.baselines.remote_stores import digest_of, pinned
from pytest_riskguard.baselines.store import Store
from pytest_riskguard.cli.main import run
from pytest_riskguard.config.load import load_config
from pytest_riskguard.data.remote import files_below
from pytest_riskguard.errors import BaselineError, ConfigError, UsageError
from tests.plugin import world

ADDRESS = "memory://bucket/baselines"
#: Every file that decides what is judged: of a baseline, of a replicate and of an earlier run.
FILES = [
    "prod/manifest.json",
    "prod/scores.tsv",
    "prod/queries.tsv",
    "prod/run.gz",
    "prod/replicates/1/run.gz",
    "moved/history/0001/scores.tsv",
]


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A folder with a riskguard.yaml and a store that has replicates and earlier runs."""
    folder = tmp_path_factory.mktemp("stored")
    world.write_world(folder, world.LOSS)
    collection = {"qrels": folder / "qrels.txt", "topics": folder / "topics.tsv"}
    baselines = Store(folder / "baselines")
    world.write_run(folder / "again.run", {"t01": 3})
    baselines.add_replicate("prod", folder / "again.run", **collection)
    baselines.add("moved", folder / "again.run", measures=["AP"], kind="previous", **collection)
    baselines.promote("moved", folder / "prod.run", **collection)
    return folder


@pytest.fixture
def uploaded(stored, tmp_path, monkeypatch):
    """A copy of that folder, whose store is at the address too."""
    folder = tmp_path / "project"
    shutil.copytree(stored, folder)
    files = fsspec.filesystem("memory")
    files.put(str(folder / "baselines"), "/bucket/", recursive=True)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    yield folder
    if files.exists("/bucket"):
        files.rm("/bucket", recursive=True)


@pytest.fixture
def pin(uploaded):
    return digest_of(uploaded / "baselines")


def at(pin: str, address: str = ADDRESS) -> Path:
    return Path(f"{address}#{pin}")


def gone() -> None:
    fsspec.filesystem("memory").rm("/bucket", recursive=True)


def piped(name: str, content: bytes) -> None:
    fsspec.filesystem("memory").pipe(f"/bucket/baselines/{name}", content)


@pytest.mark.parametrize("address", [ADDRESS, "file"])
def test_a_gate_gives_the_same_report_as_with_the_folder(uploaded, pin, address):
    address = f"file://{uploaded.as_posix()}/baselines" if address == "file" else address
    report = Path("report.json")
    assert run(["check", "--json", str(report), "-q"]) == 1
    expected = report.read_bytes()
    settings = uploaded / "riskguard.yaml"
    settings.write_text(settings.read_text().replace("store: baselines", f"store: {address}#{pin}"))
    report.unlink()
    assert run(["check", "--json", str(report), "-q"]) == 1
    assert report.read_bytes() == expected


def test_what_can_be_read_of_a_folder_can_be_read_at_an_address(uploaded, pin):
    here, there = Store(uploaded / "baselines"), Store(at(pin))
    assert there.names() == here.names() == ("moved", "prod")
    for name in here.names():
        assert there.manifest(name) == here.manifest(name)
        assert there.verify(name) == []
    assert len(there.lineage("moved", "AP", qrels=None)) == 2


@pytest.mark.parametrize("file", FILES)
def test_no_baseline_is_read_where_a_file_was_changed(pin, file):
    content = fsspec.filesystem("memory").cat(f"/bucket/baselines/{file}")
    for changed in (content[:-1], content + b"\n", b""):
        piped(file, changed)
        with pytest.raises(BaselineError, match="were changed after the digest was pinned") as refused:
            Store(at(pin)).names()
        assert refused.value.reason == "bad_baseline"
        assert str(refused.value).startswith(
            f"{ADDRESS}: expected the digest {pin}, found {digest_of(Path(ADDRESS))}"
        )
        assert refused.value.problem.startswith("baselines: expected the digest")
    piped(file, content)
    assert Store(at(pin)).names()


def test_no_baseline_is_read_where_one_was_added_or_removed(uploaded, pin):
    files = fsspec.filesystem("memory")
    files.copy("/bucket/baselines/prod", "/bucket/baselines/other", recursive=True)
    with pytest.raises(BaselineError, match="were changed"):
        Store(at(pin)).names()
    files.rm("/bucket/baselines/other", recursive=True)
    assert Store(at(pin)).names()


@pytest.mark.parametrize("file", FILES)
def test_the_digest_changes_with_every_file_and_with_its_name_but_not_with_foreign_files(uploaded, pin, file):
    path = uploaded / "baselines" / file
    for foreign in (".gitignore", ".lock", "notes.md", "prod/notes.md", ".tmp-1/new/manifest.json"):
        (uploaded / "baselines" / foreign).parent.mkdir(parents=True, exist_ok=True)
        (uploaded / "baselines" / foreign).write_text("foreign")
    assert digest_of(uploaded / "baselines") == pin
    content = path.read_bytes()
    path.write_bytes(content + b" ")
    assert digest_of(uploaded / "baselines") != pin
    path.write_bytes(content)
    assert digest_of(uploaded / "baselines") == pin
    (uploaded / "baselines" / "prod").rename(uploaded / "baselines" / "Prod")
    assert digest_of(uploaded / "baselines") != pin


@pytest.mark.parametrize("digest", ["", "sha256:", "sha256:" + "A" * 64, "md5:" + "0" * 64, "sha256:" + "0" * 65])
def test_an_address_without_a_digest_is_refused_before_anything_is_read(uploaded, digest):
    gone()
    place = Path(f"{ADDRESS}#{digest}" if digest else ADDRESS)
    message = f"{ADDRESS}: expected the digest of the baselines there.*`riskguard baseline list --store {ADDRESS}`"
    with pytest.raises(UsageError, match=message):
        pinned(place)
    with pytest.raises(UsageError, match=message):
        Store(place).names()
    settings = uploaded / "riskguard.yaml"
    settings.write_text(settings.read_text().replace("store: baselines", f"store: '{ADDRESS}#{digest}'"))
    with pytest.raises(ConfigError, match=r"store: memory.*expected the digest"):
        load_config(settings)


@pytest.mark.parametrize(
    "command",
    [
        ("add", "new", "again.run"),
        ("add", "prod", "again.run", "--replicate"),
        ("update", "prod", "again.run", "--dry-run"),
        ("promote", "moved", "again.run", "--note", "why"),
        ("rescore", "prod"),
        ("remove", "prod"),
        ("remove", "prod", "--replicate", "1"),
    ],
    ids=" ".join,
)
def test_commands_that_write_are_refused_with_what_to_do(pin, capsys, command):
    options = [] if command[0] == "remove" else ["--qrels", "qrels.txt"]
    Path("riskguard.yaml").write_text(f"collection: {{qrels: qrels.txt}}\nstore: '{ADDRESS}#{pin}'\n")
    assert run(["baseline", *command, *options]) == 2
    message = capsys.readouterr().err
    assert message.startswith(f"Error: {ADDRESS}: baselines at an address are only read; change a copy of them")
    assert "`riskguard baseline list` prints of the copy" in message
    assert digest_of(Path(ADDRESS)) == pin


def test_the_list_ends_with_the_digest_of_a_folder_or_of_an_address(pin, capsys):
    for options in ([], ["--store", "baselines"], ["--store", ADDRESS], ["--store", f"{ADDRESS}#{pin}"]):
        assert run(["baseline", "list", *options]) == 0
        assert capsys.readouterr().out.splitlines()[-1] == f"digest of all: {pin}"


@pytest.mark.parametrize("sized", [True, False])
@pytest.mark.parametrize(("limit", "what"), [("STORE_BYTES", "bytes"), ("STORE_FILES", "files")])
def test_stores_over_a_limit_are_refused(pin, monkeypatch, set_limit, limit, what, sized):
    found = files_below
    files = [file for name, file in found(Path(ADDRESS)).items() if remote_stores._is_of_store(name)]
    if not sized:  # some servers do not say how long a file is
        monkeypatch.setattr(
            remote_stores,
            "files_below",
            lambda path: dict.fromkeys(found(path)),
        )
    most = sum(file for file in files) if what == "bytes" else len(files)
    set_limit(limit, most - 1)
    with pytest.raises(BaselineError, match=f"^{ADDRESS}: expected at most {most - 1:,} {what} in the baselines at"):
        Store(at(pin)).names()
    set_limit(limit, most)
    assert Store(at(pin)).names()
