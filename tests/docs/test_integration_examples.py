"""The Verilog tops of the manual fit the detectors that are generated now."""

import json
import re
import subprocess

import pytest
import yaml  # comes with Dask

from racetrap.generators.artefacts import generate
from racetrap.generators.fusesoc import core_name
from racetrap.generators.presets import PRESETS, with_settings
from racetrap.sim.tools import tool_environment
from tests.support import REPOSITORY

EXAMPLES = REPOSITORY / "docs" / "examples" / "integration"


@pytest.fixture(scope="module", params=["scord", "sigrace"])
def example(request, tmp_path_factory):
    """Name of a top, its text, and the detector's files."""
    preset = f"{request.param}-tiny"
    folder = tmp_path_factory.mktemp(preset)
    params = with_settings(PRESETS[preset].params, ["trace_port=false"])
    top = f"{request.param}_top"
    paths = generate(preset, params, folder, name=preset, parts=[""])
    return top, (EXAMPLES / f"{top}.v").read_text(), paths


def lint(example, text, folder):
    """Verilator's opinion of a top around its detector."""
    top, _, paths = example
    (folder / f"{top}.v").write_text(text)
    return subprocess.run(
        [
            "verilator", "--lint-only", "-Wall", str(paths["verilator"]), f"{top}.v",
            str(paths["verilog"]), "--top-module", top,
        ],
        cwd=folder, env=tool_environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_verilator_finds_every_port_with_its_width(example, tmp_path):
    done = lint(example, example[1], tmp_path)
    assert done.returncode == 0, done.stderr
    assert "%Warning" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("before", "after", "warning"),
    [
        ("    .irq(irq)", "", "PINMISSING"),
        ("s_axil__awaddr(", "s_axil__address(", "PINNOTFOUND"),
        ("wire [11:0] s_axil_awaddr", "wire [10:0] s_axil_awaddr", "WIDTHEXPAND"),
    ],
)
def test_a_top_that_does_not_fit_is_found(example, before, after, warning, tmp_path):
    text = example[1].replace(before, after)
    assert text != example[1]
    done = lint(example, re.sub(r",\s*\);", "\n);", text), tmp_path)
    assert done.returncode != 0
    assert warning in done.stderr


def test_fields_are_packed_in_the_order_of_the_layouts(example):
    _, text, paths = example
    layouts = json.loads(paths["description"].read_text())["layouts"]
    found = re.findall(
        r"(?:wire \[\d+:0\] (\w+)_payload = |assign )\{([^}]*)\}(?: = (\w+)_payload)?;", text
    )
    words = {before or after: names for before, names, after in found}
    assert set(words) == ({"transaction"} if "transaction" in layouts else {"event", "trap"})
    for word, names in words.items():
        order = [name.strip().removeprefix(f"{word}_") for name in names.split(",")]
        assert order[::-1] == list(layouts[word]["fields"])
        for field, place in layouts[word]["fields"].items():
            high, name = place["width"] - 1, f"{word}_{field}"
            width = rf"\[{high}:0\] " if high else ""
            assert re.search(rf"put +wire {width}{name},", text), name


def test_example_core_depends_on_the_generated_one():
    core = yaml.safe_load((EXAMPLES / "scord_top.core").read_text())
    [needed] = core["filesets"]["rtl"]["depend"]
    assert core_name("scord-tiny").startswith(f"{needed}:")
    assert (EXAMPLES / core["filesets"]["rtl"]["files"][0]).exists()
    assert {target["toplevel"] for target in core["targets"].values()} == {"scord_top"}
