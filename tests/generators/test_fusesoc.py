"""The FuseSoC core description: it names the files and the modules that were generated."""

import json

import pytest
import yaml  # comes with Dask

from racetrap.generators.artefacts import generate
from racetrap.generators.fusesoc import core_name
from racetrap.generators.presets import PRESETS


@pytest.fixture(scope="module", params=[("hirace-tiny", "mine"), ("sigrace-tiny", None)], ids=str)
def generated(request, made, tmp_path_factory):
    """Core description and side-car description of a preset, and their folder."""
    preset, name = request.param
    if name is None:
        paths = made(preset)
    else:
        folder = tmp_path_factory.mktemp("core")
        paths = generate(preset, PRESETS[preset].params, folder, name=name)
    folder = paths["fusesoc"].parent
    core = yaml.safe_load(paths["fusesoc"].read_text())
    return core, json.loads(paths["description"].read_text()), folder


def test_first_line_says_the_format(generated):
    core, description, folder = generated
    text = (folder / f"{description['name']}.core").read_text()
    assert text.startswith("CAPI=2:\n")
    assert core["CAPI=2"] is None


def test_name_has_vendor_library_name_and_version(generated):
    core, description, _ = generated
    assert core["name"] == core_name(description["name"])
    version = description["tools"]["racetrap"]
    assert core["name"].split(":") == ["racetrap", "detectors", description["name"], version]


def test_every_file_is_beside_it_and_every_verilog_file_is_named(generated):
    core, _, folder = generated
    files = [file for fileset in core["filesets"].values() for file in fileset["files"]]
    assert sorted(files) == sorted(
        path.name for path in folder.iterdir() if path.suffix in (".sv", ".v", ".vlt")
    )


def test_targets_are_the_whole_and_each_part(generated):
    core, description, folder = generated
    modules = {"": description["module"]} | {
        f"-{name}": part["module"] for name, part in description["parts"].items()
    }
    expected = {f"{target}{suffix}" for target in ("lint", "synth") for suffix in modules}
    assert set(core["targets"]) == {"default"} | expected
    for suffix, module in modules.items():
        for tool in ("lint", "synth"):
            target = core["targets"][f"{tool}{suffix}"]
            assert target["toplevel"] == module
            filesets = [name for name in target["filesets"] if name not in ("package", "waivers")]
            [file] = core["filesets"][filesets[0]]["files"]
            assert f"module {module}(" in (folder / file).read_text()
    assert core["targets"]["default"]["toplevel"] == description["module"]


def test_all_but_synthesis_take_waivers_and_package(generated):
    core, _, _ = generated
    for name, target in core["targets"].items():
        for fileset in ("package", "waivers"):
            assert (fileset in target["filesets"]) == (not name.startswith("synth"))
