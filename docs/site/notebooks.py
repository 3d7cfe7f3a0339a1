"""Notebooks of the site: executed, kept with their outputs, and shown as pages.

``python -m docs.site.notebooks [NAME]...`` executes them again.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "notebooks"

#: Progress bars, which are of use only while a cell runs, and leave an empty output.
_WIDGET = "application/vnd.jupyter.widget-view+json"
#: Seconds that a cell may take.
_CELL_SECONDS = 300


def executed(notebook: Mapping[str, Any]) -> dict[str, Any]:
    """A notebook as it is once all its cells have run, in the folder of notebooks."""
    # Of the extra `dev`.
    import nbformat
    from nbclient import NotebookClient

    node = nbformat.reads(json.dumps(notebook), as_version=4)
    NotebookClient(
        node, timeout=_CELL_SECONDS, resources={"metadata": {"path": str(FOLDER)}},
        # A busy machine sends the text of a cell in parts, and late.
        coalesce_streams=True, iopub_timeout=_CELL_SECONDS,
    ).execute()  # fmt: skip
    done: dict[str, Any] = json.loads(nbformat.writes(node))
    done["metadata"] = {"kernelspec": notebook["metadata"]["kernelspec"]}
    for cell in done["cells"]:
        cell["metadata"] = {}
        if cell["cell_type"] == "code":
            cell["outputs"] = list(filter(_is_kept, cell["outputs"]))
    return done


def _is_kept(output: Mapping[str, Any]) -> bool:
    return _WIDGET not in _data(output) and bool(_text(output).strip())


def _data(output: Mapping[str, Any]) -> dict[str, Any]:
    data: dict[str, Any] = output.get("data", {})
    return data


def texts(notebook: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Source of each cell with code, and its outputs as text."""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            yield "".join(cell["source"]), [_text(each) for each in cell["outputs"]]


def _text(output: Mapping[str, Any]) -> str:
    return "".join(output.get("text") or _data(output).get("text/plain", ""))


def markdown(text: str) -> str:
    """A notebook as a page in Markdown."""
    return "\n\n".join(_blocks(json.loads(text)["cells"])) + "\n"


def _blocks(cells: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield source
            continue
        yield f"```python\n{source}\n```"
        for output in cell["outputs"]:
            shown = "".join(_data(output).get("text/html", "")) or (
                f"<pre>{escape(_text(output))}</pre>"
            )
            # Four backticks: printed text may have three.
            yield f'````{{raw}} html\n<div class="output">\n{shown}\n</div>\n````'


def main(names: Iterable[str]) -> None:
    """Execute notebooks, all of them by default, and keep their outputs."""
    for path in [FOLDER / f"{name}.ipynb" for name in names] or sorted(FOLDER.glob("*.ipynb")):
        done = executed(json.loads(path.read_text(encoding="utf-8")))
        path.write_text(f"{json.dumps(done, indent=1, ensure_ascii=False)}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
