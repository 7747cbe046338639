"""The vocabulary of the cases: each function returns a sabotage, which breaks one thing in a project's folder.

Paths are relative to the project. ``on_text`` and ``on_bytes`` make a sabotage of any function of a file's content.
"""

import gzip
import hashlib
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.sabotage import processes
from tests.sabotage.case import Sabotage

CANDIDATE = "runs/candidate.run"
QRELS = "qrels.txt"
TOPICS_FILE = "topics.tsv"
CONFIG = "riskguard.yaml"
PROD = "baselines/prod"
KEPT_RUN = f"{PROD}/run.gz"
#: For programs that prepare a case.
MAX_SECONDS = 300.0


# Contents


def on_bytes(path: str, change: Callable[[bytes], bytes]) -> Sabotage:
    """Replace a file's content by what a function makes of it; ``.gz`` files stay compressed as they are."""

    def sabotage(folder: Path) -> None:
        (folder / path).write_bytes(change((folder / path).read_bytes()))

    return sabotage


def on_text(path: str, change: Callable[[str], str]) -> Sabotage:
    """As ``on_bytes``, for UTF-8 text; a file that ends in ``.gz`` is unpacked and packed again."""
    if path.endswith(".gz"):
        return on_bytes(
            path, lambda content: gzip.compress(change(gzip.decompress(content).decode()).encode(), mtime=0)
        )
    return on_bytes(path, lambda content: change(content.decode()).encode())


def write(path: str, content: str | bytes, times: int = 1) -> Sabotage:
    """A file with this content, once or so many times, in place of what is there; missing folders are made."""

    def sabotage(folder: Path) -> None:
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_symlink():
            target.unlink()
        target.write_bytes((content.encode() if isinstance(content, str) else content) * times)

    return sabotage


def append(path: str, content: str, times: int = 1, encoding: str = "utf-8") -> Sabotage:
    """More at the end of a file, once or so many times."""
    return on_bytes(path, lambda before: before + content.encode(encoding) * times)


def prepend(path: str, content: str, times: int = 1) -> Sabotage:
    """More at the beginning of a file."""
    return on_bytes(path, lambda before: content.encode() * times + before)


def ini(*lines: str) -> Sabotage:
    """Another pytest.ini."""
    return write("pytest.ini", "\n".join(["[pytest]", *lines, ""]))


def replace_text(path: str, old: str, new: str, count: int = -1) -> Sabotage:
    """Words replaced, everywhere or the first ``count`` times; the old ones must be there."""

    def change(text: str) -> str:
        if old not in text:
            raise ValueError(f"{path} has no {old!r}")
        return text.replace(old, new, count)

    return on_text(path, change)


def replace_line(path: str, number: int, line: str) -> Sabotage:
    """Another line with this number, counted from 1."""

    def change(text: str) -> str:
        lines = text.split("\n")
        lines[number - 1] = line
        return "\n".join(lines)

    return on_text(path, change)


def substitute(path: str, pattern: str, new: str) -> Sabotage:
    """A regular expression replaced wherever it fits, ``^`` and ``$`` at each line."""
    return on_text(path, lambda text: re.sub(pattern, new, text.removesuffix("\n"), flags=re.MULTILINE) + "\n")


def keep_lines(path: str, first: int, last: int | None = None) -> Sabotage:
    """These lines alone, counted as Python counts."""
    return on_lines(path, lambda lines: lines[first:last])


def reverse(path: str) -> Sabotage:
    """Lines from the last word of the alphabet to the first."""
    return on_lines(path, lambda lines: sorted(lines, reverse=True))


def on_lines(path: str, change: Callable[[list[str]], list[str]]) -> Sabotage:
    """Replace the lines of a file by what a function makes of them."""
    return on_text(path, lambda text: "\n".join([*change(text.split("\n")[:-1]), ""]))


def on_columns(path: str, change: Callable[[list[str]], list[str]], separator: str | None = None) -> Sabotage:
    """Replace the columns of each line by what a function makes of them."""
    joint = " " if separator is None else separator
    return on_lines(path, lambda lines: [joint.join(change(line.split(separator))) for line in lines])


def truncate(path: str, share: float) -> Sabotage:
    """Only this share of a file's bytes, from its beginning."""
    return on_bytes(path, lambda content: content[: int(len(content) * share)])


def flip_byte(path: str, share: float = 0.5) -> Sabotage:
    """One byte changed, at this share of the file."""

    def change(content: bytes) -> bytes:
        place = int(len(content) * share)
        return content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :]

    return on_bytes(path, change)


def empty(path: str) -> Sabotage:
    """A file of no bytes."""
    return write(path, b"")


def encode(path: str, encoding: str) -> Sabotage:
    """A file in another encoding than UTF-8."""
    return on_bytes(path, lambda content: content.decode().encode(encoding))


def bom(path: str) -> Sabotage:
    """A byte order mark at the beginning, as Windows programs write it."""
    return prepend(path, "\ufeff")


def crlf(path: str) -> Sabotage:
    """Lines that end as on Windows."""
    return on_bytes(path, lambda content: content.replace(b"\n", b"\r\n"))


def compress(path: str) -> Sabotage:
    """A file compressed in place, under the same name."""
    return on_bytes(path, lambda content: gzip.compress(content, mtime=0))


def lfs_pointer(path: str) -> Sabotage:
    """What a checkout without Git LFS has in place of a file."""
    return write(path, f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 12345\n")


def conflict(path: str) -> Sabotage:
    """Markers of a merge conflict around the second line."""

    def change(lines: list[str]) -> list[str]:
        return [lines[0], "<<<<<<< HEAD", lines[1], "=======", lines[1], ">>>>>>> branch", *lines[2:]]

    return on_lines(path, change)


# Files


def delete(path: str) -> Sabotage:
    """No such file or folder."""

    def sabotage(folder: Path) -> None:
        target = folder / path
        shutil.rmtree(target) if target.is_dir() and not target.is_symlink() else target.unlink()

    return sabotage


def rename(path: str, name: str) -> Sabotage:
    """A file or folder under another path."""

    def sabotage(folder: Path) -> None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).rename(folder / name)

    return sabotage


def copy(path: str, name: str) -> Sabotage:
    """A copy of a file or folder, in place of what has that path."""

    def sabotage(folder: Path) -> None:
        source, target = folder / path, folder / name
        if target.exists():
            delete(name)(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, target) if source.is_dir() else shutil.copy2(source, target)

    return sabotage


def link(path: str, target: str) -> Sabotage:
    """A symbolic link, to an absolute path or one relative to the link, in place of what is there."""

    def sabotage(folder: Path) -> None:
        if (folder / path).is_symlink() or (folder / path).exists():
            delete(path)(folder)
        (folder / path).symlink_to(target)

    return sabotage


def to_link(path: str, name: str = "elsewhere") -> Sabotage:
    """A file or folder moved elsewhere in the project, and a link to it in its place."""

    def sabotage(folder: Path) -> None:
        rename(path, name)(folder)
        (folder / path).symlink_to(folder / name)

    return sabotage


def fifo(path: str) -> Sabotage:
    """A named pipe that nobody writes into, in place of a file."""

    def sabotage(folder: Path) -> None:
        (folder / path).unlink(missing_ok=True)
        os.mkfifo(folder / path)

    return sabotage


def make_folder(path: str) -> Sabotage:
    """An empty folder in place of a file or folder."""

    def sabotage(folder: Path) -> None:
        if (folder / path).exists():
            delete(path)(folder)
        (folder / path).mkdir(parents=True)

    return sabotage


def chmod(path: str, mode: int) -> Sabotage:
    """Other permissions; the superuser is not bound by them."""
    return lambda folder: (folder / path).chmod(mode)


# Runs and qrels


def prefix_ids(path: str, prefix: str) -> Sabotage:
    """Every document id (the third column) prefixed."""
    return on_columns(path, lambda columns: [*columns[:2], prefix + columns[2], *columns[3:]])


def swap_columns(path: str, one: int, other: int, separator: str | None = None) -> Sabotage:
    """Two columns exchanged, counted from 1."""

    def change(columns: list[str]) -> list[str]:
        columns[one - 1], columns[other - 1] = columns[other - 1], columns[one - 1]
        return columns

    return on_columns(path, change, separator)


def drop_topics(path: str, *topics: str) -> Sabotage:
    """No line of these topics, in a file whose first column is the topic."""
    dropped = spelt_out(topics)
    return on_lines(path, lambda lines: [line for line in lines if line.split()[0] not in dropped])


def spelt_out(topics: Sequence[str]) -> list[str]:
    """The ids of topics, of which ``t01-t48`` stands for 48."""
    ids = []
    for one in topics:
        first, _, last = one.partition("-")
        ids += [f"t{number:02d}" for number in range(int(first[1:]), int((last or first)[1:]) + 1)]
    return ids


# The store


def on_manifest(change: Callable[[dict[str, Any]], Any], name: str = "prod") -> Sabotage:
    """The manifest of a baseline changed as an object; the function changes it in place."""

    def changed(text: str) -> str:
        manifest = json.loads(text)
        change(manifest)
        return json.dumps(manifest, indent=2, sort_keys=True) + "\n"

    return on_text(f"baselines/{name}/manifest.json", changed)


def in_manifest(key: str, value: Any) -> Sabotage:
    """One value in the manifest of prod, by keys and numbers with points between them."""

    def change(manifest: Any) -> None:
        *way, last = (int(part) if part.isdigit() else part for part in key.split("."))
        for part in way:
            manifest = manifest[part]
        manifest[last] = value

    return on_manifest(change)


def lower_scores(amount: float, name: str = "prod") -> Sabotage:
    """Stored scores lowered in each topic, down to 0."""

    def change(columns: list[str]) -> list[str]:
        if columns[0] == "topic":
            return columns
        return [columns[0], *(f"{max(0.0, float(value) - amount):.17g}" for value in columns[1:])]

    return on_columns(f"baselines/{name}/scores.tsv", change, "\t")


def sign(name: str = "prod") -> Sabotage:
    """The digests in the manifest of a baseline rewritten, so that they fit what its files now hold."""

    def sabotage(folder: Path) -> None:
        baseline = folder / "baselines" / name
        contents = {"scores": (baseline / "scores.tsv").read_bytes()}
        if (baseline / "run.gz").is_file():
            contents["run"] = gzip.decompress((baseline / "run.gz").read_bytes())
        digests = {key: f"sha256:{hashlib.sha256(content).hexdigest()}" for key, content in contents.items()}
        on_manifest(lambda manifest: manifest["digests"].update(digests), name)(folder)

    return sabotage


# Programs


def run_program(line: str, env: Mapping[str, str | None] | None = None, cwd: str = ".") -> Sabotage:
    """A line for the shell, run in the project; it must succeed.

    ``python`` and ``riskguard`` are ours; ``{project}`` stands for the project's folder.
    """

    def sabotage(folder: Path) -> None:
        commands = {"python": [sys.executable], "riskguard": processes.RISKGUARD}
        program, _, arguments = line.replace("{project}", str(folder)).partition(" ")
        script = f"{shlex.join(commands.get(program, [program]))} {arguments}"
        variables = processes.environment(env or {}, folder)
        ended = processes.run(script, folder / cwd, variables, MAX_SECONDS)
        if ended.status != 0:
            raise RuntimeError(f"{line}: exit status {ended.status}\n{ended.output}")

    return sabotage


def riskguard(line: str, status: int | None = 0, env: Mapping[str, str | None] | None = None) -> Sabotage:
    """riskguard's own command run in the project; it must end with the status, unless that is None."""

    def sabotage(folder: Path) -> None:
        command = [*processes.RISKGUARD, *shlex.split(line)]
        ended = processes.run(command, folder, processes.environment(env or {}, folder), MAX_SECONDS)
        if status is not None and ended.status != status:
            raise RuntimeError(f"riskguard {line}: exit status {ended.status}\n{ended.output}")

    return sabotage
