"""A counter added to each detector: its register, and the two places where it counts."""

import os
import shutil
import subprocess
import sys

import pytest

from racetrap.generators.description import describe_registers
from racetrap.generators.systems import SYSTEMS, system_named
from racetrap.sim.cosim.verilator.build_cache import Patch
from tests.support import REPOSITORY

#: Of each detector: register, golden model, RTL.
_PLACES = {
    "scord": (
        Patch(
            "rtl/scord/scord.rdl", "counter_reg ACCESSES @",
            "counter_reg LOADS_CHECKED @ {address:#x};\n    counter_reg ACCESSES @",
        ),
        Patch(
            "golden_model/scord/detector_bank.py", '"tag_conflicts":',
            '"loads_checked": lambda step: (step.kind == PacketKind.LOAD)'
            ' & (step.row != TableRow.UNMONITORED),\n    "tag_conflicts":',
        ),
        Patch(
            "rtl/scord/check_lane.py", '"tag_conflicts": step',
            '"loads_checked": is_access & (step.packet.kind == PacketKind.LOAD),\n'
            '            "tag_conflicts": step',
        ),
    ),
    "hirace": (
        Patch(
            "rtl/hirace/hirace.rdl", "counter_reg ACCESSES @",
            "counter_reg LOADS_CHECKED @ {address:#x};\n    counter_reg ACCESSES @",
        ),
        Patch(
            "golden_model/hirace/detector_bank.py", '"metadata_read_errors":',
            '"loads_checked": lambda step: (step.kind == Access.READ) & step.monitored,\n'
            '"metadata_read_errors":',
        ),
        Patch(
            "rtl/hirace/check_lane.py", '"accesses": step',
            '"loads_checked": step.monitored & (step.packet.kind == 0),\n'
            '            "accesses": step',
        ),
    ),
    "causality": (
        Patch(
            "rtl/causality/causality.rdl", "counter_reg ACCESSES @",
            "counter_reg LOADS_CHECKED @ {address:#x};\n    counter_reg ACCESSES @",
        ),
        Patch(
            "golden_model/causality/detector_bank.py", "self._count(decision, read_error)",
            'self._counts["loads_checked"] += packet.kind == PacketKind.LOAD\n'
            "        self._count(decision, read_error)",
        ),
        Patch(
            "golden_model/causality/detector_bank.py", "import Packet\n",
            "import Packet, PacketKind\n",
        ),
        Patch(
            "rtl/causality/check_lane.py", '"accesses", "unmonitored"',
            '"loads_checked", "accesses", "unmonitored"',
        ),
        Patch(
            "rtl/causality/check_lane.py", '"accesses": step',
            '"loads_checked": step.monitored & (step.packet.kind == 0),\n'
            '            "accesses": step',
        ),
    ),
    "noncoherent": (
        Patch(
            "rtl/noncoherent/noncoherent.rdl", "counter_reg ROWS @",
            "counter_reg LOADS_CHECKED @ {address:#x};\n    counter_reg ROWS @",
        ),
        Patch(
            "golden_model/noncoherent/monitor.py", '"rows": len(steps),',
            '"rows": len(steps), "loads_checked":'
            " sum(each.kind == _K.CACHED_READ for each in operations),",
        ),
        Patch(
            "rtl/noncoherent/system.py", '"rows": monitor.o_step,',
            '"rows": monitor.o_step, "loads_checked": operation.valid & operation.ready'
            " & (operation.payload.kind == 0),",
        ),
    ),
    "sigrace": (
        Patch(
            "rtl/sigrace/sigrace.rdl", "counter_reg MESSAGES @",
            "counter_reg LOADS_CHECKED @ {address:#x};\n    counter_reg MESSAGES @",
        ),
        Patch(
            "golden_model/sigrace/rdm.py", 'COUNTERS = ("messages",',
            'COUNTERS = ("loads_checked", "messages",',
        ),
        Patch(
            "golden_model/sigrace/rdm.py", "if order == Relation.PRECEDES:",
            'self.counters["loads_checked"] += order == Relation.PRECEDES\n'
            "            if order == Relation.PRECEDES:",
        ),
        Patch(
            "rtl/sigrace/rdm_controller.py", "count.comparisons.eq(",
            "count.loads_checked.eq(sum(one.valid & (one.p.relation == Relation.PRECEDES)"
            " for one in compared)),\n            count.comparisons.eq(",
        ),
    ),
}  # fmt: skip
#: What is compared by the counters' names, in seconds: registers and their files, then the RTL of
#: a detector's counting block beside its golden model.
_TESTS = (
    "tests/generators/test_register_map.py::test_every_counter_counts_something",
    "tests/rtl/scord/test_registers.py::test_every_counter_of_a_bank_has_a_register",
    "tests/rtl/scord/test_detector_bank.py::test_random_packets[slow-3]",
    "tests/rtl/sigrace/test_rdm.py::test_software_interferes[1]",
)
#: Writes the files of a detector's registers.
_WRITE = """
from pathlib import Path
from racetrap.generators.register_files import write_register_files
from racetrap.generators.systems import SYSTEMS
for system in SYSTEMS:
    write_register_files(system.params(), system.name, Path(), system.name)
"""


def _run(folder, *command):
    # Of this run's own pytest nothing: its options may name what is not in the copy.
    inherited = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST_")}
    environment = inherited | {"PYTHONPATH": str(folder)}
    done = subprocess.run(
        [sys.executable, "-B", *command], cwd=folder, env=environment, text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture
def tree(tmp_path):
    """A copy of the sources with a counter more in each detector, at the first or last address
    that is free."""
    folder = tmp_path / "tree"
    ignored = shutil.ignore_patterns("__pycache__", ".*", "*.trace", "docs", "site", "build")
    shutil.copytree(REPOSITORY, folder, symlinks=True, ignore=ignored)
    addresses = {}
    for number, (name, patches) in enumerate(_PLACES.items()):
        registers = describe_registers(system_named(name).params())
        used = {register["offset"] for register in registers.values()}
        free = sorted(set(range(0, 1 << 12, 4)) - used)
        addresses[name] = free[-(number % 2)]
        for patch in patches:
            after = patch.after.replace("{address:#x}", f"{addresses[name]:#x}")
            Patch(patch.file, patch.before, after).apply(folder)
    return folder, addresses


def test_every_detector_is_there():
    assert _PLACES.keys() == {system.name for system in SYSTEMS}
    for patches in _PLACES.values():
        assert len({patch.file for patch in patches}) <= 3


@pytest.mark.campaign
def test_a_counter_takes_three_files(tree):
    folder, addresses = tree
    _run(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", *_TESTS)
    _run(folder, "-c", _WRITE)
    for name, address in addresses.items():
        for suffix in ("h", "md", "xml"):
            text = (folder / f"{name}.{suffix}").read_text(encoding="utf-8")
            assert "LOADS_CHECKED" in text, (name, suffix)
        manual = (folder / f"{name}.md").read_text(encoding="utf-8")
        assert f"Offset: 0x{address:X}" in manual
