"""VexRiscv beside PicoRV32: both take the same operations from the same image; planted faults
between the core and the monitor; and another version of the core."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from racetrap.golden_model.trace.noncoherent.operations import MAINTENANCE
from racetrap.golden_model.trace.noncoherent.operations import OperationKind as K
from racetrap.rtl.soc.dma_engine import DONE, REGISTERS, START_WRITE
from racetrap.rtl.soc.params import CONTROL, CONTROL_BASE, ENGINE_BASE, LOCAL_BYTES, MEMORY_BASE
from racetrap.rtl.soc.vexriscv_system import core_with_ports
from racetrap.sim.accelerator.programs.catalogue import ACCELERATOR_PROGRAMS
from racetrap.sim.failure import Failure
from racetrap.sim.soc.firmware import image_of
from racetrap.sim.soc.image import Image, read_image
from racetrap.sim.soc.run import run_firmware
from racetrap.sim.soc.systems import SYSTEMS, build_system
from tests.support.planted_bugs import modules_with
from tests.support.soc.planted_bugs import SLOW_BUS, VEXRISCV_BUGS, VEXRISCV_FILES
from tests.support.soc.systems import needs_core

_NEEDS_CORES = [
    pytest.mark.campaign, needs_core("picorv32"), needs_core("vexriscv"),
    pytest.mark.xdist_group("soc-vexriscv"),
]  # fmt: skip


#: Registers of the driver below: each holds what its name says.
_ENGINE, _CONTROL, _MEMORY, _SIZE, _ONE, _DEVICE, _WRITE, _FOUND = range(8, 16)


def _lui(register, value):
    return value & 0xFFFF_F000 | register << 7 | 0x37


def _addi(register, base, value):
    return value << 20 | base << 15 | register << 7 | 0x13


def _sw(register, base, offset):
    return offset >> 5 << 25 | register << 20 | base << 15 | 2 << 12 | (offset & 31) << 7 | 0x23


def _lw(register, base, offset):
    return offset << 20 | base << 15 | 2 << 12 | register << 7 | 0x03


def _driver():
    """A driver that writes each register of the engine right behind the other, and DMA's last byte
    right behind the wait: nothing but the core's own order stands between them."""
    again_if_0, for_ever = 0xFE00_0CE3 | _FOUND << 15, 0x6F
    stores = (("address", _MEMORY), ("device", _DEVICE), ("stride", 0), ("device_stride", 0),
              ("rows", _ONE), ("length", _SIZE), ("start", _WRITE))  # fmt: skip
    code = [
        _lui(_ENGINE, ENGINE_BASE), _lui(_CONTROL, CONTROL_BASE), _lui(_MEMORY, MEMORY_BASE),
        _lui(_DEVICE, LOCAL_BYTES // 2), _addi(_SIZE, 0, 60), _addi(_ONE, 0, 1),
        _addi(_WRITE, 0, START_WRITE),
        *(_sw(register, _ENGINE, REGISTERS[name]) for name, register in stores),
        _lw(_FOUND, _ENGINE, REGISTERS["status"]),
        DONE << 20 | _FOUND << 15 | 7 << 12 | _FOUND << 7 | 0x13,
        again_if_0,
        _lw(_FOUND, _MEMORY, 56),
        _sw(0, _CONTROL, CONTROL["exit"]),
        for_ever,
    ]  # fmt: skip
    return Image(Path("driver"), {4 * at: word for at, word in enumerate(code)}, ((0, "-"),))


def _build(change, name):
    """VexRiscv's system with a change."""
    module = modules_with(VEXRISCV_FILES, change)["soc/vexriscv_system.py"]
    other = replace(SYSTEMS["vexriscv"], top=module.VexriscvSystem, adapt=module.core_with_ports)
    return build_system("vexriscv", other.params, other=other, bug=name)


@cache
def _operations(system, name, program=None):
    """All operations but the maintenance, which differs, and how many were empty or lost."""
    is_driver = name == "driver"
    image = _driver() if is_driver else read_image(image_of(name))
    arguments = [] if is_driver else [str(ACCELERATOR_PROGRAMS[name].least)]
    run = run_firmware(system, SYSTEMS[system].params, image, arguments, program=program)
    operations = [each for each in run.trace if each.kind not in MAINTENANCE]
    return operations, run.empty_operations, run.lost_operations


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=_NEEDS_CORES) for name in ("driver", *ACCELERATOR_PROGRAMS)]
)
def test_operations_are_those_of_another_core(name):
    operations, empty, lost = _operations("vexriscv", name)
    assert (operations, empty, lost) == _operations("picorv32", name)
    assert {each.kind for each in operations} >= {K.DMA_WRITE, K.SYNC, K.CACHED_READ}
    assert empty == lost == 0


@pytest.mark.parametrize("bug", [pytest.param(name, marks=_NEEDS_CORES) for name in VEXRISCV_BUGS])
def test_planted_fault_shows(bug):
    program = _build(VEXRISCV_BUGS[bug], bug)
    equal = [
        name
        for name in ("driver", "crypto")
        if _operations("vexriscv", name, program) == _operations("picorv32", name)
    ]
    assert len(equal) < 2, "the fault shows in no program"


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=_NEEDS_CORES) for name in ("driver", "crypto")]
)
def test_operations_are_the_same_however_late_stores_arrive(name):
    program = _build(SLOW_BUS, "slow-bus")
    assert _operations("vexriscv", name, program) == _operations("picorv32", name)


def test_another_version_of_the_core_is_refused():
    with pytest.raises(ValueError, match=r"SHA-256 of VexRiscv\.v must be"):
        core_with_ports("module VexRiscv (\n")


@needs_core("vexriscv")
def test_another_version_of_the_package_names_the_extra():
    other = replace(SYSTEMS["vexriscv"], adapt=lambda text: core_with_ports(text + " "))
    with pytest.raises(Failure, match=r"pythondata-cpu-vexriscv must be that of the extra soc"):
        other.core()


@needs_core("vexriscv")
def test_core_gets_all_ports():
    text = SYSTEMS["vexriscv"].core()
    assert "isIoAccess = io_uncached;" in text
    assert "assign DBusCachedPlugin_mmuBus_rsp_isIoAccess = DBus" not in text
    assert text.count("  assign tap_") == text.count("tap_") // 2 == 7
