"""Notebooks of the site: each keeps what its cells give, and becomes a page with it."""

import json

import pytest

from docs.site.notebooks import FOLDER, executed, markdown, texts
from tests.support.gpu.cuda_programs import needs_compiler

_NAMES = sorted(path.stem for path in FOLDER.glob("*.ipynb"))


#: Text that comes in two parts.
_CODE = "import time; print(1 + 1, flush=True); time.sleep(0.5); print(3)"


def _read(name):
    return json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))


def test_there_is_one_for_each_door():
    assert _NAMES == ["cuda", "research", "soc"]


@pytest.mark.campaign
@needs_compiler
@pytest.mark.parametrize("name", _NAMES)
def test_a_notebook_keeps_what_its_cells_give(name):
    pytest.importorskip("nbclient", reason="Package nbclient is not installed")
    kept = _read(name)
    done = executed(kept)
    assert list(texts(done)) == list(texts(kept))
    outputs = [each for cell in done["cells"] for each in cell.get("outputs", [])]
    assert [each["text"] for each in outputs if each.get("name") == "stderr"] == []
    assert outputs


@pytest.mark.parametrize("name", _NAMES)
def test_what_is_kept_names_no_folder_of_the_machine_that_made_it(name):
    outputs = [cell.get("outputs", []) for cell in _read(name)["cells"]]
    assert "/docs/examples/" not in json.dumps(outputs)


def test_what_a_cell_gives_is_taken_again():
    """Cheap: a cell without our package."""
    pytest.importorskip("nbclient", reason="Package nbclient is not installed")
    cell = {"cell_type": "code", "execution_count": None, "id": "a", "metadata": {}}
    old = {"name": "stdout", "output_type": "stream", "text": "old\n"}
    notebook = _read("cuda") | {"cells": [cell | {"outputs": [old], "source": _CODE}]}
    assert list(texts(executed(notebook))) == [(_CODE, ["2\n3\n"])]


def test_a_page_has_text_code_and_outputs():
    page = markdown((FOLDER / "cuda.ipynb").read_text(encoding="utf-8"))
    assert page.startswith("# CUDA in a notebook\n")
    assert '```python\nresult = api.run("total.cu")\nresult\n```\n\n````{raw} html\n' in page
    assert "<td>RT10" in page
    assert "<pre>total.cu:7: race: " in page
