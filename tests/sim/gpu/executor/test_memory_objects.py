"""Memory objects in a trace: names that launches give to allocations, and what threads allocate."""

from racetrap.golden_model.events import Geometry
from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.ptx.parser import parse_ptx
from tests.support.gpu.ptx_text import HEADER

_TEXT = f"""{HEADER}
.extern .func (.param .b64 p) malloc (.param .b64 size);
.visible .entry scale(.param .u32 count, .param .u64 values) {{ ret; }}
.visible .entry make() {{
  .reg .b64 %rd<3>;
  {{ .param .b64 a; .param .b64 b; st.param.b64 [a], 24; call.uni (b), malloc, (a); }}
  ret;
}}
"""


def _objects(device):
    return list(device.trace("test").header.objects.values())


def _device():
    return Device(Geometry(sm_count=1, blocks_per_sm=1, warps_per_sm=1)), parse_ptx(_TEXT, "a.ptx")


def test_an_allocation_has_the_name_of_the_first_parameter_that_points_to_it():
    device, module = _device()
    named = device.allocate(64, name="graph", origin="a buffer of the launch file")
    first, second = (device.allocate(64, origin="allocated by the cudaMalloc") for _ in range(2))
    for value in (named, first + 4, first, second):
        device.launch(module, "scale", 1, 1, [3, value])
    assert [each.name for each in _objects(device)] == ["graph", "values", "values"]


def test_an_address_that_is_given_again_gets_a_new_name():
    device, module = _device()
    for _ in range(2):
        address = device.allocate(64, origin="allocated by the cudaMalloc")
        device.free(address)
    device.launch(module, "scale", 1, 1, [3, address])
    assert [each.name for each in _objects(device)][-1] == "values"


def test_what_threads_allocate_is_there_from_their_launch_on():
    device, module = _device()
    device.launch(module, "scale", 1, 1, [3, 0])
    device.launch(module, "make", 1, 2, [])
    found = _objects(device)
    assert [(each.size, each.launch, each.origin) for each in found] == 2 * [
        (24, 1, "allocated by the malloc")
    ]
    assert len({each.address for each in found}) == 2


def test_many_allocations_by_threads_leave_the_names_of_others():
    device, module = _device()
    device.allocate(64, name="graph", origin="a buffer of the launch file")
    device.launch(module, "make", 65, 32, [])
    found = _objects(device)
    assert (found[0].name, len(found)) == ("graph", 1025)
