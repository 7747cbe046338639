"""Settings of the documentation site: ``nox -s docs`` builds it from the pages that GitHub shows as they are."""

from __future__ import annotations

import re
import shutil
import sys
import tomllib
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.directives.patches import CSVTable
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path[:0] = [str(ROOT), str(DOCS)]  # the package and the scripts of this checkout, whatever is installed

import command_help  # noqa: E402
import draw_imports  # noqa: E402
import generated  # noqa: E402

from pytest_riskguard import __version__  # noqa: E402

REPOSITORY = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Repository"]

project = "pytest-riskguard"
author = copyright = "The pytest-riskguard developers"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "README"  # what GitHub shows for the folder
exclude_patterns = ["_build"]
highlight_language = "none"
myst_heading_anchors = 4  # those that GitHub gives to headings

autodoc_typehints_format = "short"
python_maximum_signature_line_length = 120
autodoc_type_aliases = {name: name for name in ("ArrayLike", "FloatArray", "BoolArray", "IntArray")}
napoleon_google_docstring = False
napoleon_custom_sections = [("Attributes", "params_style")]  # a short list, where names may share a line
napoleon_use_rtype = False
nitpicky = True
# Types are written for people, as "array, shape (n_topics,)"; the words are not all names of classes.
nitpick_ignore_regex = [("py:class", ".*")]
suppress_warnings = ["ref.python"]  # a field that two classes have, named in a description of types

html_theme = "furo"
html_title = f"pytest-riskguard {__version__}"
html_extra_path = ["llms.txt"]
html_theme_options = {
    "source_repository": REPOSITORY,
    "source_branch": "main",
    "source_directory": "docs/",
}


def add_contents(_app: Sphinx, docname: str, source: list[str]) -> None:
    """Give the index a table of contents for the sidebar, taken from its own lists of links."""
    if docname != root_doc:
        return
    placed: set[str] = set()
    for heading, section in re.findall(r"^## (.+)\n((?:(?!## ).*\n)*)", source[0], re.MULTILINE):
        pages = [page for page in re.findall(r"\]\(([\w/-]+)\.md\)", section) if page not in placed]
        placed.update(pages)
        source[0] += "\n".join(["", "```{toctree}", ":hidden:", f":caption: {heading}", "", *pages, "```", ""])


def link_to_repository(_app: Sphinx, _docname: str, source: list[str]) -> None:
    """Link pages beside ``docs``, which are not part of the site, in the repository."""
    beside = r"\]\((?:\.\./)+((?:CHANGELOG|CONTRIBUTING|SECURITY|examples/[\w/]+)\.md)"
    source[0] = re.sub(beside, rf"]({REPOSITORY}/blob/main/\1", source[0])


def resolve_short_name(_app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.Node) -> Any:
    """Find what a docstring names without its module, where only one object has that name."""
    if node.get("refdomain") != "py":
        return None
    domain = env.domains.python_domain
    ends = [item for item in domain.objects.items() if item[0].rpartition(".")[2] == node["reftarget"]]
    places = {(entry.docname, entry.node_id) for _, entry in ends}
    if len(places) != 1:
        return None
    docname, anchor = places.pop()
    return make_refnode(_app.builder, node["refdoc"], docname, anchor, [content])


def without_fields(
    _app: Sphinx, what: str, _name: str, thing: Any, _options: Any, _signature: str, _returns: str
) -> tuple[str, str] | None:
    """Leave out the arguments of results: their fields are listed below, and nobody calls them."""
    return ("", "") if what == "class" and is_dataclass(thing) else None


class AlsoCalled(SphinxTransform):
    """Makes entries of the index, which the search finds first, of ``Also called: metric, score.`` on a page."""

    default_priority = 500  # before the domain of the index looks for entries

    def apply(self, **_options: Any) -> None:
        """An entry for each word."""
        for paragraph in self.document.findall(nodes.paragraph):
            begin, found, words = paragraph.astext().partition("Also called: ")
            if found and not begin:
                name = nodes.make_id("also called")
                paragraph["ids"].append(name)
                entries = [("single", word, name, "main", None) for word in words.rstrip(".").split(", ")]
                paragraph.parent.insert(paragraph.parent.index(paragraph), addnodes.index(entries=entries))
                return


class ImportsPicture(SphinxDirective):
    """``{imports-picture}``: which part of the package imports which, drawn from the code."""

    def run(self) -> list[nodes.Node]:
        """One picture."""
        for module in draw_imports.PACKAGE.rglob("*.py"):
            self.env.note_dependency(str(module))
        return [nodes.raw("", draw_imports.svg(draw_imports.imports()), format="html")]


class CommandHelp(SphinxDirective):
    """``{command-help} riskguard compare``: what a command does, its usage and options; of a group each command."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """What one command says, or a section for each of a group."""
        path = self.arguments[0]
        if path in command_help.commands():
            return self.help_of(path)
        inner = sorted(one for one in command_help.commands() if one.startswith(f"{path} "))
        if not inner:
            raise self.error(f"no command {path!r}; there are {', '.join(sorted(command_help.commands()))}")
        return [section("", f"`{one}`", *self.help_of(one)) for one in inner]

    def help_of(self, path: str) -> list[nodes.Node]:
        """Paragraphs, usage as code, and a list of the options."""
        shown = command_help.help_of(path)
        options = nodes.definition_list()
        for written, meaning in shown.options:
            name = re.findall(r"--[a-z-]+", written)[0]
            term = nodes.term("", "", nodes.literal(written, written), ids=[nodes.make_id(path + name)])
            # Options and the file's name within the text are code too.
            parts = re.split(r"((?<![\w-])--[a-z][a-z-]*|riskguard\.yaml)", meaning)
            text = [nodes.literal(part, part) if at % 2 else nodes.Text(part) for at, part in enumerate(parts)]
            definition = nodes.definition("", nodes.paragraph("", "", *text))
            options += nodes.definition_list_item("", term, definition)
        about = [nodes.paragraph("", "", *inline(text)) for text in shown.about]
        return [*about, nodes.literal_block(shown.usage, shown.usage, language="none"), options]


def inline(text: str) -> list[nodes.Node]:
    """Text with code between backticks."""
    parts = enumerate(re.split(r"`([^`]+)`", text))
    return [nodes.literal(part, part) if at % 2 else nodes.Text(part) for at, part in parts]


def table(head: tuple[str, ...], rows: list[tuple[str, ...]], widths: tuple[int, ...]) -> nodes.table:
    """A table of texts; each line of a cell is a paragraph."""

    def entry(cell: str) -> nodes.entry:
        return nodes.entry("", *(nodes.paragraph("", "", *inline(line)) for line in cell.splitlines()))

    def row(cells: tuple[str, ...]) -> nodes.row:
        return nodes.row("", *map(entry, cells))

    group = nodes.tgroup("", *(nodes.colspec(colwidth=width) for width in widths), cols=len(widths))
    group += nodes.thead("", row(head))
    group += nodes.tbody("", *map(row, rows))
    return nodes.table("", group)


def section(name: str, title: str, *content: nodes.Node) -> nodes.section:
    """A section below the one that a directive stands in; ``name`` begins its anchor."""
    return nodes.section("", nodes.title("", "", *inline(title)), *content, ids=[nodes.make_id(f"{name} {title}")])


class ReportFields(SphinxDirective):
    """``{report-fields}``: every field of the JSON report, from its JSON Schema."""

    def run(self) -> list[nodes.Node]:
        """One section for the file, one for a verdict, one for each part of a verdict."""
        self.env.note_dependency(str(generated.SCHEMA_FILE))
        head, widths = ("field", "type", "meaning"), (30, 15, 55)
        sections = []
        for title, fields in generated.report_sections().items():
            intro = nodes.paragraph("", "", *inline(fields[0].text))
            below = [field for field in fields if title != f"`{field.path}`"]
            rows = [(f"`{field.path}`", field.type, field.text) for field in below]
            content = [table(head, rows, widths)]
            sections.append(section("fields", title, *([intro] if below != fields else []), *content))
        return [*sections]


class GateOptions(SphinxDirective):
    """``{gate-options}``: every option of a gate, as the kinds declare it."""

    def run(self) -> list[nodes.Node]:
        """One table."""
        self.env.note_dependency(str(generated.PACKAGE / "gates" / "kinds.py"))
        rows = []
        for row in generated.gate_options():
            default = row.default if row.default == "none" or " " in row.default else f"`{row.default}`"
            lines = [row.help, f"Takes {row.expected}."]
            if row.kinds != tuple(generated.KINDS):
                lines.append(f"Only for {', '.join(f'`{kind}`' for kind in row.kinds)}.")
            rows.append((f"`{row.name}`", default, "\n".join(lines)))
        return [table(("option", "default", "meaning"), rows, (20, 15, 65))]


class Settings(SphinxDirective):
    """``{settings} collection``: the keys of a mapping of riskguard.yaml, from the docstring of its model."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """One table."""
        for module in (generated.PACKAGE / "config").glob("*.py"):
            self.env.note_dependency(str(module))
        rows = [
            (f"`{key}`", default if default in ("none", "required") else f"`{default}`", text)
            for key, default, text in generated.settings(generated.SETTINGS[self.arguments[0]])
        ]
        return [table(("key", "default", "meaning"), rows, (20, 15, 65))]


class Fields(SphinxDirective):
    """``{fields} package.module.Class``: the fields of what a command or the store writes as JSON."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """One table."""
        rows = [
            (", ".join(f"`{name}`" for name in names.split(", ")), text)
            for names, text in generated.fields_of(self.arguments[0])
        ]
        return [table(("field", "meaning"), rows, (30, 70))]


class Listed(SphinxDirective):
    """``{listed} limits``: a table of ``generated.LISTED``."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """One table."""
        head, widths, rows = generated.LISTED[self.arguments[0]]
        return [table(head, rows(), widths)]


class Data(CSVTable):
    """``{data} calibration/families``: a table of ``docs/data``."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """One table."""
        self.options |= {"file": f"/data/{self.arguments.pop()}.csv", "header-rows": 1}
        return list(super().run())


class PluginSettings(SphinxDirective):
    """``{plugin-settings}``: the options and ini settings of the pytest plugin, with their help."""

    def run(self) -> list[nodes.Node]:
        """One table for each."""
        tables = zip(("option", "ini setting"), generated.plugin_settings(), strict=True)
        return [
            table((what, "meaning"), [(f"`{name}`", text) for name, text in rows], (35, 65)) for what, rows in tables
        ]


class Modules(SphinxDirective):
    """``{modules}``: every module with the first line of its docstring."""

    def run(self) -> list[nodes.Node]:
        """One section for each folder."""
        sections = []
        for folder, lines in generated.modules().items():
            for name in lines:
                self.env.note_dependency(str(generated.PACKAGE.parent / folder / f"{name or '__init__'}.py"))
            entries = [
                nodes.list_item("", nodes.paragraph("", "", *inline(f"`{name}`: {line.replace('``', '`')}")))
                for name, line in lines.items()
                if name
            ]
            about = nodes.paragraph("", "", *inline(lines[""].replace("``", "`")))
            sections.append(section("modules", f"`{folder}`", about, nodes.bullet_list("", *entries)))
        return [*sections]


def write_front_page(app: Sphinx, exception: Exception | None) -> None:
    """The site's front page is the index of the documentation."""
    if exception is None and app.builder.format == "html":
        shutil.copyfile(Path(app.outdir) / f"{root_doc}.html", Path(app.outdir) / "index.html")


def setup(app: Sphinx) -> None:
    """What Sphinx calls."""
    app.add_transform(AlsoCalled)
    app.add_directive("imports-picture", ImportsPicture)
    app.add_directive("command-help", CommandHelp)
    app.add_directive("report-fields", ReportFields)
    app.add_directive("gate-options", GateOptions)
    app.add_directive("settings", Settings)
    app.add_directive("fields", Fields)
    app.add_directive("data", Data)
    app.add_directive("listed", Listed)
    app.add_directive("plugin-settings", PluginSettings)
    app.add_directive("modules", Modules)
    app.connect("source-read", add_contents)
    app.connect("source-read", link_to_repository)
    app.connect("missing-reference", resolve_short_name)
    app.connect("autodoc-process-signature", without_fields)
    app.connect("build-finished", write_front_page)
