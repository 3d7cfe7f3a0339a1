"""Pins of a simulated system, recorded by Verilator and replayed on Icarus Verilog.

A line of the record has the inputs and the outputs of one clock cycle, as they are just before the
edge that ends it.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from racetrap.generators.presets import module_name
from racetrap.generators.system import Params
from racetrap.generators.systems import system_of
from racetrap.sim.cosim.fast.build import FastModel, build_library

#: File in the current folder to which a system with a recorder writes.
PINS = "pins.txt"
_RECORDER = """
  integer pins__file = 0;
  initial pins__file = $fopen("{file}", "w");
  always @(posedge clk) begin
    $fwrite(pins__file, "%h %h\\n", {{{inputs}}}, {{{outputs}}});
    $fflush(pins__file);
  end
endmodule
"""
_REPLAY = """\
module replay;
  reg clk = 0;
  reg [{inputs}-1:0] in;
  reg [{outputs}-1:0] want, unknown = 0;
  wire [{outputs}-1:0] out;
  integer file, cycle = 0, was_reset = 0, differences = 0;
  {module} dut(.clk(clk), {connections});
  initial begin
    file = $fopen("{file}", "r");
    while ($fscanf(file, "%h %h\\n", in, want) == 2) begin
      #1;
      if (was_reset && !{reset}) begin
        unknown = unknown | ((out ^ out) & {{{counted}}});
        if (|(out ^ want) === 1'b1) begin
          differences = differences + 1;
          if (differences == 1) $display("first %0d %b", cycle, out ^ want);
        end
      end
      if ({reset}) was_reset = 1;
      cycle = cycle + 1;
      clk = 1;
      #1 clk = 0;
    end
    $display("cycles %0d", cycle);
    $display("differences %0d", differences);
    $display("unknown %b", unknown);
  end
endmodule
"""
#: A register with a value before its first edge; a memory's values are in a block of their own.
_INITIAL = re.compile(r"^(  reg [^=;]*?) = [^;]*;$", re.MULTILINE)
_INITIAL_BLOCK = re.compile(r"^  initial begin\n(?:    .*\n)*?  end\n", re.MULTILINE)
#: Ports that count only while another is high.
_PAYLOAD = re.compile(r"(.*__)(payload|(aw|w|b|ar|r)(?!valid|ready)\w+)")


@dataclass(frozen=True)
class Replayed:
    """What a replay on Icarus shows.

    Parameters
    ----------
    cycles : int
        Cycles of the record.
    differences : int
        Those after the first reset in which a bit of an output that Icarus knows has another value.
    first : str
        The first of them: its cycle and the ports.
    unknown : tuple of str
        Outputs of which Icarus did not know a bit in some cycle after the first reset; of a
        payload, in a cycle in which it was valid.
    """

    cycles: int
    differences: int
    first: str
    unknown: tuple[str, ...]

    def __add__(self, other: Replayed) -> Replayed:
        """Both together."""
        return Replayed(
            self.cycles + other.cycles, self.differences + other.differences,
            self.first or other.first, tuple(dict.fromkeys((*self.unknown, *other.unknown))),
        )  # fmt: skip


def recorded_model(preset: str, params: Params) -> FastModel[Params]:
    """A system that records its pins, with the detector's harness; errors as of a build."""
    harness = system_of(params).own("sim.cosim", "fast_harness").HARNESS

    def with_recorder(verilog: str, params: Params) -> str:
        top = module_name(preset)
        begin = verilog.index(f"module {top}(")
        head, body, tail = _split(verilog, begin)
        found = re.findall(r"^  (input|output) (?:\[\d+:0\] )?(\S+);$", body, re.MULTILINE)
        sides = {
            side: ", ".join(name for way, name in found if way == side and name != "clk")
            for side in ("input", "output")
        }
        recorder = _RECORDER.format(file=PINS, inputs=sides["input"], outputs=sides["output"])
        return head + body + recorder + tail

    scripts = (*harness.scripts, str(Path(__file__)))
    return build_library(preset, params, replace(harness, rewrite=with_recorder, scripts=scripts))


def _split(verilog: str, begin: int) -> tuple[str, str, str]:
    """What is before a module, the module without its last line, and what follows."""
    end = verilog.index("\nendmodule", begin)
    return verilog[:begin], verilog[begin:end], verilog[end + len("\nendmodule") :]


def replay(preset: str, model: FastModel[Params], folder: Path, *, bare: bool) -> Replayed:
    """Replay the pins in ``folder`` on Icarus.

    Parameters
    ----------
    preset : str
        Name of the preset.
    model : FastModel
        The system.
    folder : Path
        Folder with the record.
    bare : bool
        Whether registers and memories have no value before reset.
    """
    verilog = (model.folder / f"{preset}.v").read_text(encoding="utf-8")
    if bare:
        verilog = without_initial_values(verilog)
    description = json.loads((model.folder / f"{preset}.json").read_text(encoding="utf-8"))
    (folder / "dut.v").write_text(verilog, encoding="utf-8")
    bench, outputs = _bench(module_name(preset), description["ports"], verilog)
    (folder / "replay.v").write_text(bench, encoding="utf-8")
    for command in (
        ["iverilog", "-g2005", "-o", "replay", "replay.v", "dut.v"],
        ["vvp", "-n", "replay"],
    ):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    said = dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)
    cycle, _, bits = said.get("first", "").partition(" ")
    return Replayed(
        int(said["cycles"]), int(said["differences"]),
        f"cycle {cycle}: {', '.join(_named(bits, outputs, '1'))}" if cycle else "",
        _named(said["unknown"], outputs, "x"),
    )  # fmt: skip


def without_initial_values(verilog: str) -> str:
    """Verilog in which no register and no memory has a value before reset."""
    trigger = r"(?!  reg \\\$auto)"
    text = re.sub(trigger + _INITIAL.pattern, r"\1;", verilog, flags=re.MULTILINE)
    return _INITIAL_BLOCK.sub("", text)


def _bench(
    top: str, ports: Mapping[str, Mapping], verilog: str
) -> tuple[str, list[tuple[str, int]]]:
    """Testbench of a replay, and the outputs with their widths, the most significant first."""
    body = _split(verilog, verilog.index(f"module {top}("))[1]
    order = re.findall(r"^  (input|output) (?:\[\d+:0\] )?(\S+);$", body, re.MULTILINE)
    sides: dict[str, list[tuple[str, int]]] = {"input": [], "output": []}
    for side, name in order:
        if name != "clk":
            sides[side].append((name, ports[name]["width"]))
    connections, places = [], {}
    for side, word in (("input", "in"), ("output", "out")):
        high = sum(width for _, width in sides[side])
        for name, width in sides[side]:
            places[name] = f"{word}[{high - 1}:{high - width}]"
            connections.append(f".{name}({places[name]})")
            high -= width
    counted = [f"{{{width}{{{_counts(name, places)}}}}}" for name, width in sides["output"]]
    inputs, outputs = (sum(width for _, width in sides[side]) for side in sides)
    text = _REPLAY.format(
        inputs=inputs, outputs=outputs, module=top, connections=", ".join(connections), file=PINS,
        reset=places["rst"], counted=", ".join(counted),
    )  # fmt: skip
    return text, sides["output"]


def _counts(port: str, places: Mapping[str, str]) -> str:
    """When a port counts: always, or while its payload is valid."""
    found = _PAYLOAD.fullmatch(port)
    valid = found and f"{found[1]}{found[3] or ''}valid"
    return f"({places[valid]} === 1'b1)" if valid in places else "1'b1"


def _named(bits: str, ports: list[tuple[str, int]], value: str) -> tuple[str, ...]:
    """Ports of which a bit has a value."""
    found, at = [], 0
    for name, width in ports:
        if value in bits[at : at + width]:
            found.append(name)
        at += width
    return tuple(found)
