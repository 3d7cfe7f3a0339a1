"""The files of a preset: complete, in agreement with each other, the same everywhere."""

import json
import os
import re
import subprocess
import sys
from dataclasses import asdict

import pytest

from racetrap.generators.artefacts import generate, generate_simulated
from racetrap.generators.presets import PRESETS, with_settings
from racetrap.rtl.scord.system import ScordSystem
from racetrap.sim.tools import tool_environment

TINY = PRESETS["scord-tiny"].params

GENERATE = """
import sys
from pathlib import Path
from racetrap.generators.artefacts import generate
from racetrap.generators.presets import PRESETS
generate("scord-tiny", PRESETS["scord-tiny"].params, Path(sys.argv[1]))
"""


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return generate("scord-tiny", TINY, tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def description(tiny):
    return json.loads(tiny["description"].read_text())


def test_names_of_the_files(tiny):
    assert sorted(path.name for path in tiny.values()) == [
        f"scord-tiny.{suffix}" for suffix in ("core", "h", "json", "md", "rdl", "v", "vlt", "xml")
    ]
    assert sorted(tiny.values()) == sorted(tiny["verilog"].parent.iterdir())


def test_files_that_a_simulation_takes_are_those_of_all(tiny, tmp_path):
    generate_simulated("scord-tiny", TINY, tmp_path)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".json", ".v", ".vlt"]
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (tiny["verilog"].parent / path.name).read_bytes()


def test_all_instances_of_a_block_are_one_module(tiny):
    verilog = tiny["verilog"].read_text()
    modules = re.findall(r"^module (\S+)\(", verilog, re.MULTILINE)
    assert not [name for name in modules if not re.fullmatch(r"scord_tiny(_[a-z]\w*)?", name)]
    assert re.findall(r"^  scord_tiny_tracker (\w+) \(", verilog, re.MULTILINE) == [
        "tracker_0", "tracker_1",
    ]  # fmt: skip
    assert [verilog.count(f"    .i_sm(1'h{sm})") for sm in range(TINY.sm_count)] == [1, 1]


@pytest.fixture(scope="module")
def asynchronous(tmp_path_factory):
    """Verilog of ``scord-tiny`` with asynchronous resets."""
    folder = tmp_path_factory.mktemp("asynchronous")
    return generate("scord-tiny", TINY, folder, asynchronous_reset=True)["verilog"].read_text()


def test_asynchronous_reset(tiny, asynchronous):
    """Every register that has a reset has it at once, and there are as many as otherwise."""
    at_once, at_edge = asynchronous, tiny["verilog"].read_text()
    resets = re.findall(r"^ +if \(rst\)", at_edge, re.MULTILINE)
    register = r"  always @\(posedge clk, posedge rst\)\n    if \(rst\) "
    assert "posedge rst" not in at_edge
    assert at_once.count("if (rst)") == len(re.findall(register, at_once)) == len(resets) > 100
    assert len(re.findall(r"^  input rst;", at_once, re.MULTILINE)) == len(
        re.findall(r"^  input rst;", at_edge, re.MULTILINE)
    )


def test_data_registers_alone_have_no_reset(asynchronous):
    """What they hold counts only beside a register of control, and that one has a reset."""
    register = r"^  always @\(posedge clk\)\n    \\?(\w+?)(?:_\d+)?(?:\$\d+ )? <="
    assert set(re.findall(register, asynchronous, re.MULTILINE)) == {
        "index",  # of a slot of the window, beside ``newest``
        "lookup", "older", "i__payload", "o_step__payload",  # of the check pipeline's stages
        "o__payload",  # of a stream's register
        "transaction",  # in the splitter, beside ``remaining``
    }  # fmt: skip


def test_bytes_do_not_depend_on_folder_or_hash_seed(tiny, tmp_path):
    for seed in ("1", "2"):
        folder = tmp_path / seed / "deep"
        subprocess.run(
            [sys.executable, "-c", GENERATE, str(folder)],
            env={**os.environ, "PYTHONHASHSEED": seed}, cwd=tmp_path, check=True,
        )  # fmt: skip
        for path in tiny.values():
            assert (folder / path.name).read_bytes() == path.read_bytes(), path.name


def test_files_say_nothing_of_this_machine(tiny):
    for path in tiny.values():
        text = path.read_text()
        assert str(path.parent) not in text
        assert ".py" not in text


def verilog_ports(text, module):
    """Direction and width of each port of a module in Amaranth's Verilog."""
    body = text[text.index(f"module {module}(") :]
    body = body[: body.index("endmodule")]
    found = re.findall(r"^  (input|output) (?:\[(\d+):0\] )?(\S+);", body, re.MULTILINE)
    return {
        name: {"direction": direction, "width": int(high or 0) + 1}
        for direction, high, name in found
    }


@pytest.mark.parametrize("name", ["scord-tiny", "scord-local"])
def test_described_ports_are_those_of_the_verilog(name, tmp_path):
    paths = generate(name, PRESETS[name].params, tmp_path)
    description = json.loads(paths["description"].read_text())
    ports = verilog_ports(paths["verilog"].read_text(), description["module"])
    assert description["ports"] == ports
    assert ports["i_transaction__1__payload"]["width"] == TINY.transaction_layout.width
    assert ("m_axi_metadata__0__araddr" in ports) == (name == "scord-tiny")
    for bank in description["trace"]["step"]:
        assert ports[bank["valid"]] == {"direction": "output", "width": 1}
        assert ports[bank["payload"]]["width"] == description["layouts"]["step"]["width"]


def test_described_layouts_are_the_golden_models(description):
    for word, layout in (("packet", TINY.packet_layout), ("report", TINY.report_layout)):
        shown = description["layouts"][word]
        assert shown["width"] == layout.width
        assert list(shown["fields"]) == list(layout.fields)
        for field in layout.fields:
            place = {"offset": layout.offset(field), "width": layout.fields[field]}
            assert shown["fields"][field] == place
    nested = description["layouts"]["step"]["fields"]["packet.pc"]
    assert nested == {"offset": TINY.packet_layout.offset("pc"), "width": 32}


def test_description_names_parameters_and_tools(description):
    assert description["parameters"] == asdict(TINY)
    assert (description["preset"], description["module"]) == ("scord-tiny", "scord_tiny")
    assert description["tools"]["amaranth"] == "0.5.10"


def test_registers_of_header_and_description_agree(tiny, description, tmp_path):
    source = tmp_path / "main.c"
    names = list(description["registers"])
    lines = [f'printf("%zu\\n", offsetof(scord_t, {name}));' for name in names]
    source.write_text(
        "#include <stddef.h>\n#include <stdio.h>\n"
        f'#include "{tiny["header"]}"\nint main(void) {{ {" ".join(lines)} return 0; }}\n'
    )
    program = tmp_path / "main"
    subprocess.run(["cc", "-std=gnu11", "-o", program, source], check=True)
    shown = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split()
    assert [int(text) for text in shown] == [
        description["registers"][name]["offset"] for name in names
    ]


def test_manual_has_every_register(tiny, description):
    manual = tiny["manual"].read_text()
    for name in description["registers"]:
        assert f"### {name} register" in manual


def test_trace_port_can_be_left_out(tmp_path):
    paths = generate("scord-tiny", PRESETS["scord-tiny"].params, tmp_path)
    with_trace = paths["verilog"].stat().st_size
    params = type(TINY)(**{**asdict(TINY), "trace_port": False})
    paths = generate("scord-tiny", params, tmp_path)
    description = json.loads(paths["description"].read_text())
    assert description["trace"] == {"step": []}
    assert not any(port.startswith("trace") for port in description["ports"])
    assert paths["verilog"].stat().st_size < with_trace


def test_nothing_is_written_if_the_design_cannot_be_made(tmp_path, monkeypatch):
    def fail(self, platform):
        raise RuntimeError("planted")

    monkeypatch.setattr(ScordSystem, "elaborate", fail)
    with pytest.raises(RuntimeError, match="planted"):
        generate("scord-tiny", TINY, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("scord-tiny", []),
        ("scord-local", []),
        ("sigrace-tiny", []),
        ("sigrace-tiny", ["form=hashed", "lsb_bits=16", "contexts=2"]),
        ("sigrace-tiny", ["one_hot_lsb=true"]),
    ],
)
def test_verilator_finds_nothing_beyond_the_waivers(name, settings, tmp_path):
    paths = generate(name, with_settings(PRESETS[name].params, settings), tmp_path)
    verilogs = [path.name for kind, path in paths.items() if kind.startswith("verilog ")]
    for file in (f"{name}.v", *verilogs):
        top = file.removesuffix(".v").replace("-", "_")
        done = subprocess.run(
            ["verilator", "--lint-only", "-Wall", f"{name}.vlt", file, "--top-module", top],
            cwd=tmp_path, env=tool_environment(), capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "%Warning" not in done.stdout + done.stderr


def test_parts_of_sigrace_are_tops_of_their_own(tmp_path):
    paths = generate("sigrace-tiny", PRESETS["sigrace-tiny"].params, tmp_path)
    description = json.loads(paths["description"].read_text())
    assert list(description["parts"]) == ["core-unit", "rdm"]
    for name, part in description["parts"].items():
        text = paths[f"verilog {name}"].read_text()
        assert part["ports"] == verilog_ports(text, part["module"])
    unit, rdm = description["parts"].values()
    assert unit["ports"]["o_message__payload"] == {"direction": "output", "width": 33}
    assert rdm["ports"]["i_message__1__payload"] == {"direction": "input", "width": 33}
    assert description["ports"] == verilog_ports(paths["verilog"].read_text(), "sigrace_tiny")
    for layout, ports in description["trace"].items():
        for port in ports:
            width = description["layouts"][layout]["width"]
            assert description["ports"][port["payload"]]["width"] == width
