"""Views of packed ports: every stream has one, and every field is at its place."""

import re

import pytest

from racetrap.generators.description import describe
from racetrap.generators.presets import PRESETS
from racetrap.generators.systems import system_of
from racetrap.sim.cosim.verilator.wave_layouts import wave_layouts
from racetrap.sim.cosim.verilator.wave_views import views_of, views_verilog


def _views(preset):
    params = PRESETS[preset].params
    system = system_of(params)
    return views_of(describe(preset, preset, params, {"": system.top(params)}), system), system


@pytest.mark.parametrize(
    ("preset", "names"),
    [
        ("scord-tiny", ["transaction_0", "transaction_1", "step_0"]),
        ("sigrace-tiny", ["event_0", "event_1", "core_step_0", "core_step_1", "rdm_step"]),
    ],
)
def test_every_packed_stream_has_a_view(preset, names):
    views, system = _views(preset)
    assert [view.name for view in views] == names
    shown = {f"{view.layout}.{field}" for view in views for field in view.codes}
    layouts = {*system.inputs, *system.traces}
    assert shown == {code for code in system.codes if code.partition(".")[0] in layouts}
    params = PRESETS[preset].params
    for view in views:
        layout = getattr(params, f"{view.layout}_layout")
        places = {name.replace(".", "_"): (at, width) for name, at, width in layout.flat() if width}
        assert view.fields == places
        assert view.width == layout.width


def test_codes_fit_their_fields():
    for preset in ("scord-tiny", "sigrace-tiny"):
        for view in _views(preset)[0]:
            for field, code in view.codes.items():
                assert max(code) < 1 << view.fields[field][1]


def test_verilog():
    views, _ = _views("scord-tiny")
    text, instances = views_verilog(views)
    assert len(re.findall(r"^module ", text, re.M)) == 2
    assert "  view_step step_0 (.valid(trace__0__valid), .payload(trace__0__payload));" in instances
    assert re.search(r"package race_kind_3;\n  typedef enum logic \[2:0\] \{NONE = 3'd0, ", text)
    assert "race_kind_3::code \\race ;" in text
    assert len(set(re.findall(r"^package (\w+)", text, re.M))) == text.count("endpackage")


def test_layouts_name_the_waves():
    views, _ = _views("sigrace-tiny")
    layouts = wave_layouts("run.fst", views)
    assert set(layouts) == {"run.fst.gtkw", "run.fst.sucl"}
    lines = layouts["run.fst.gtkw"].splitlines()
    assert lines[0] == '[dumpfile] "run.fst"'
    assert lines.count("@800200") == lines.count("@1000200") == len(views)
    assert layouts["run.fst.sucl"].endswith("zoom_fit\n")
