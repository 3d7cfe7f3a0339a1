"""Page on which the golden model itself checks a trace, in a browser and without a server.

The sources of the golden model are run by Brython, which is JavaScript alone: a page that was
opened from a folder may fetch nothing, so no interpreter that is WebAssembly.

Ref: Brython 3.15.
"""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import asdict
from html import escape
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from docs.site.markdown import plain, table
from docs.site.walk import walk
from racetrap.generators.scord import SCORD
from racetrap.golden_model.events import DataRegion, Geometry, TraceHeader
from racetrap.golden_model.trace.gpu.trace import Trace
from racetrap.sim.gpu.suites.micro.micro_benchmarks import MICRO_BENCHMARKS
from racetrap.sim.gpu.suites.micro.program import program_region
from racetrap.sim.gpu.suites.micro.scheduler import BlockPlacement, in_order, run_program

#: Scripts of the page, in the site's folder of what is static.
SCRIPTS = ("brython.js", "brython_stdlib.js", "golden_model.js")
#: Configuration of the page: an entry for each word.
PARAMS = SCORD.presets["scord-nocache"].params
_EXAMPLE = "race_interblock_blkfence_raw"
#: What the page begins with.
_SCRIPT = "docs.site.walk_script"
#: Records of NumPy are named by schemas of traces, and made by nothing that the page calls.
_NUMPY = "def dtype(fields):\n    return fields\n"
_OURS = re.compile(r"^from ((?:racetrap|docs)\.[\w.]+) import ", re.MULTILINE)
_CONTROLS = """\
<p id="walk-wait">The controls need JavaScript; <a href="#by-hand">an example</a> does not.</p>
<div id="walk" style="display: none">
<p><label>Trace: <select id="walk-choice">{options}</select></label></p>
<textarea id="walk-text" rows="12" style="width: 100%; box-sizing: border-box" spellcheck="false">
</textarea>
<p><button id="walk-check">Check the text</button> <span id="walk-summary"></span></p>
<p><button id="walk-back">Back</button> <button id="walk-forward">Forward</button>
<span id="walk-at"></span></p>
<p><code id="walk-line" style="overflow-wrap: anywhere"></code></p>
<p><span id="walk-what"></span><br><code id="walk-row"></code></p>
<p><strong id="walk-verdict"></strong></p>
<div class="table-wrapper"><table class="docutils"><thead>
<tr><th>field of the entry</th><th>before</th><th>after</th></tr>
</thead><tbody id="walk-entry"></tbody></table></div>
</div>
<script id="walk-data" type="application/json">{data}</script>
{scripts}
<brython-options indexedDB="false"></brython-options>
<script type="text/python">from docs.site.walk_script import start; start()</script>
"""


def micro_trace(name: str) -> str:
    """Text of the trace of a micro-benchmark, its blocks on an SM each, its actors in order."""
    region = program_region()
    header = TraceHeader(
        geometry=Geometry(PARAMS.sm_count, PARAMS.blocks_per_sm, PARAMS.warps_per_sm),
        region=DataRegion(region.data_base, region.size_log2), source=name,
    )  # fmt: skip
    events = run_program(MICRO_BENCHMARKS[name], in_order, BlockPlacement.OTHER_SMS)
    lines = Trace.from_events(header, events).lines()
    # A text that people are to change does not count its events.
    return "".join(f"{line}\n" for line in lines if not line.startswith("events "))


def walk_page() -> str:
    """Controls of the page, with the traces of all micro-benchmarks."""
    traces = {name: micro_trace(name) for name in MICRO_BENCHMARKS}
    data = json.dumps({"parameters": asdict(PARAMS), "traces": traces, "example": _EXAMPLE})
    controls = _CONTROLS.format(
        options="".join(f"<option>{escape(name)}</option>" for name in traces),
        # Nothing in it may end the script.
        data=data.replace("<", "\\u003c"),
        scripts="\n".join(f'<script src="_static/{name}"></script>' for name in SCRIPTS),
    )
    return f"```{{raw}} html\n{controls}```\n"


def walk_example() -> str:
    """Steps of one of them as a table, and the entry that each leaves behind."""
    rows = [
        (
            moment.line,
            plain(moment.what),
            f"`{moment.row}`" if moment.row else "",
            moment.condition,
            plain(moment.verdict),
            ", ".join(f"`{name}` {after}" for name, old, after in moment.entry if old != after),
        )
        for moment in walk(micro_trace(_EXAMPLE), PARAMS)
    ]
    columns = ("line", "access", "row", "paper", "verdict", "fields changed")
    return f"Micro-benchmark `{_EXAMPLE}`:\n\n" + table(columns, rows)


def write_scripts(site: Path) -> None:
    """Write the page's scripts into the folder of a site."""
    folder = site / "_static"
    brython, modules, own = SCRIPTS
    for name in (brython, modules):
        shutil.copyfile(str(files("brython") / "data" / name), folder / name)
    (folder / own).write_text(_modules(), encoding="utf-8")


def _source_of(module: str) -> str:
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).read_text(encoding="utf-8")


def _modules() -> str:
    """Sources of the page's script, and of its imports from racetrap, as Brython takes them."""
    found: dict[str, list[object]] = {"numpy": [".py", _NUMPY, []]}
    todo = [_SCRIPT]
    while todo:
        name = todo.pop()
        parts = name.split(".")
        for length in range(1, len(parts)):
            # What a package re-exports is for others, and may need NumPy.
            found[".".join(parts[:length])] = [".py", "", [], 1]
        if name not in found:
            source = _source_of(name)
            found[name] = [".py", source, []]
            todo += _OURS.findall(source)
    return f"Object.assign(__BRYTHON__.VFS, {json.dumps(found)});\n"
