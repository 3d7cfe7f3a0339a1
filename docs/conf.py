"""Configuration of the documentation's site.

Ref: Sphinx, MyST.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection
from pathlib import Path

from docutils import nodes
from myst_parser.parsers.sphinx_ import MystParser
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

# What makes the generated parts of pages lies in docs/site.
sys.path.insert(0, str(Path(__file__).parents[1]))

from docs.site.generated import Kept

project = "racetrap"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
autodoc_member_order = "bysource"
root_doc = "index"
exclude_patterns = ["**/.pytest_cache"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "racetrap"
html_static_path = ["site/static"]
html_css_files = ["site.css"]
html_copy_source = False
# A summary is fetched from the page, which no browser allows a site without a server.
html_show_search_summary = False
html_show_copyright = False

#: A shelf of the first page: its heading, and what follows up to the next.
_SHELF = re.compile(r"^### (.+?)\n(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)
#: Begin of the shelves; what is ahead of them only points there.
_SHELVES = "\n## Pages\n"
_PAGE = re.compile(r"\]\(([\w/.-]+)\.(?:md|ipynb)\)")


def _add_contents(app: Sphinx, name: str, source: list[str]) -> None:
    """Make the table of contents from the links of the first page, which is read as it stands
    where there is no Sphinx."""
    if name != root_doc:
        return
    listed: set[str] = set()
    for title, text in _SHELF.findall(source[0].partition(_SHELVES)[2]):
        # The sidebar has each page once: where it is named first.
        pages = [page for page in dict.fromkeys(_PAGE.findall(text)) if page not in listed]
        listed.update(pages)
        lines = "\n".join(pages)
        source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{lines}\n```\n"


class NotebookParser(MystParser):
    """Notebooks, with the outputs that they keep."""

    supported = ("notebook",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        from docs.site.notebooks import markdown

        super().parse(markdown(inputstring), document)


class Generated(SphinxDirective):
    """Block ``{generated} NAME``: the part of that name."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        # What makes the parts is for pages that have one.
        from docs.site.parts import PARTS, SLOW_PARTS

        name, kept = self.arguments[0], _kept(self.env)
        if name in PARTS:
            text = kept.quick_text(name, self.env.docname)
        elif name not in SLOW_PARTS:
            raise self.error(
                f"Part must be one of {', '.join({**PARTS, **SLOW_PARTS})}, not {name}"
            )
        elif self.config.slow_parts:
            text = kept.slow_text(name, self.config.remake_slow)
        else:
            text = "Left out of a quick build."
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def _kept(env: BuildEnvironment) -> Kept:
    """Parts of earlier builds into the folder, which lie with what Sphinx has read."""
    kept: Kept = vars(env).setdefault("generated_parts", Kept())
    return kept


def _outdated(app: Sphinx, env: BuildEnvironment, *_: Collection[str]) -> list[str]:
    """Pages to read again besides those whose own text has changed."""
    kept = _kept(env)
    earlier = kept.earlier()
    if app.config.remake_slow:
        blocks = [f"```{{generated}} {name}\n" for name in earlier]
        texts = {page: env.doc2path(page).read_text(encoding="utf-8") for page in env.found_docs}
        slow = [page for page, text in texts.items() if any(each in text for each in blocks)]
        return [*kept.outdated(), *slow]
    if earlier:
        names = ", ".join(earlier)
        print(f"Of earlier sources: {names}; `make docs SLOW=1` makes them again", file=sys.stderr)
    return kept.outdated()


def _purge(app: Sphinx, env: BuildEnvironment, page: str) -> None:
    """Forget the parts of a page that is read again or gone."""
    _kept(env).quick.pop(page, None)


def _write_files(app: Sphinx, error: Exception | None) -> None:
    """Put schemas and scripts beside the pages that name them."""
    from docs.site.json_documents import write_schemas
    from docs.site.walk_part import write_scripts

    for page, write in (("json", write_schemas), ("step-by-step", write_scripts)):
        if error is None and page in app.env.found_docs:
            write(app.outdir)


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    # Quick builds, as of a test: `-D slow_parts=0`.
    app.add_config_value("slow_parts", True, "env", types=bool)
    app.add_config_value("remake_slow", False, "", types=bool)
    app.add_directive("generated", Generated)
    app.connect("env-get-outdated", _outdated)
    app.connect("env-purge-doc", _purge)
    app.add_source_suffix(".ipynb", "notebook")
    app.add_source_parser(NotebookParser)
    app.connect("source-read", _add_contents)
    app.connect("build-finished", _write_files)
