"""Advice: fences that are missing, redundant or too wide."""


from racetrap.sim.gpu.launch.kernel_source import read_kernel_file
from racetrap.sim.gpu.launch.launch_file import read_launch
from racetrap.sim.gpu.stress.advice import Advisor
from racetrap.sim.gpu.stress.subject import Subject
from tests.support import REPOSITORY


def test_a_fence_that_is_too_narrow():
    folder = REPOSITORY / "docs" / "examples"
    launch = read_launch(folder / "handover.toml")
    subject = Subject(read_kernel_file(folder / "handover.ptx"), launch)
    advice = Advisor(subject, "views", 40, 40, 1).advise()
    assert advice.cured
    assert advice.fences == [("widen", "handover.cu:7", "fence.acq_rel.gpu")]
