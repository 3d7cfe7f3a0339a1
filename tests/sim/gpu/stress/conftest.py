"""Subjects of stress that several tests share."""

import pytest

from racetrap.sim.gpu.launch.kernel_source import read_kernel_file
from racetrap.sim.gpu.launch.launch_file import read_launch
from racetrap.sim.gpu.stress.kernel_subject import KernelSubject
from racetrap.sim.gpu.suites.weak_memory.launches import launch_of
from racetrap.sim.gpu.suites.weak_memory.programs import PROGRAMS
from racetrap.sim.gpu.suites.weak_memory.runner import variant_module
from tests.support import REPOSITORY


@pytest.fixture
def variant():
    """Makes a subject of a variant of a program of weak memory."""

    def make(program, name):
        found = PROGRAMS[program]
        own = found.variant(name)
        return KernelSubject(variant_module(found, own), launch_of(found, own))

    return make


@pytest.fixture(scope="module")
def handover():
    """The kernel of the documentation, whose fence is too narrow."""
    examples = REPOSITORY / "docs" / "examples"
    module = read_kernel_file(examples / "handover.ptx")
    return KernelSubject(module, read_launch(examples / "handover.toml"))
