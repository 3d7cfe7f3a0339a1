"""The executor as a server: what a program asks for, and whatever else may come on the socket."""

from random import Random

import numpy as np
import pytest

from racetrap.golden_model.events import EventKind
from racetrap.sim.gpu.cuda.errors import CudaError
from racetrap.sim.gpu.cuda.messages import MESSAGES
from racetrap.sim.gpu.cuda.protocol import MAGIC, REQUEST_HEADER, VERSION, ProtocolError
from racetrap.sim.gpu.executor.machine.memory import HEAP_BASE, HEAP_END
from tests.support.gpu.executor_client import Client, fat_binary

#: Stores its parameter at the address of the other one, in every thread.
_PTX = """\
.version 8.0
.target sm_75
.address_size 64
.global .align 4 .u32 variable;
.visible .entry store(.param .u64 store_0, .param .u32 store_1)
{
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [store_0];
  ld.param.u32 %r1, [store_1];
  st.global.u32 [%rd1], %r1;
  ret;
}
"""
_ONE = (1, 1, 1)


@pytest.fixture
def client(tmp_path):
    with Client(tmp_path) as client:
        yield client


def _load(client):
    """Number of the kernel after everything that leads to it."""
    client.hello()
    status, (module,) = client.ask("load_module", tail=fat_binary(_PTX))
    assert status == 0
    status, (kernel, *facts) = client.ask("find_kernel", module, tail=b"store")
    assert (status, facts) == (0, [2, 12, 0, 1024, 0])
    assert client.ask("parameter", kernel, 1) == (0, (8, 4))
    return kernel


def _launch(
    client, kernel, address, value, stream=0, grid=_ONE, block=(32, 1, 1), cluster=(0, 0, 0)
):
    tail = address.to_bytes(8, "little") + value.to_bytes(4, "little")
    status, _ = client.ask(
        "launch", kernel, *grid, *block, 0, stream, 0, *cluster, 0, tail=tail
    )  # fmt: skip
    return CudaError(status)


def test_a_kernel_from_fat_binary_to_trace(client):
    kernel = _load(client)
    status, (address,) = client.ask("allocate", 4, 0, 0, 0, 0)
    assert (status, address) == (0, HEAP_BASE)
    assert _launch(client, kernel, address, 7) == CudaError.SUCCESS
    copy = (0x1000, 4, address, 4, 4, 1, 2, 0, 0, 0, 0)
    assert client.ask("copy", *copy) == (0, (0, 1))
    (session,) = client.server.sessions
    assert session._context.device.read(address, np.uint32, 1) == [7]
    kinds = [event.kind for event in session.trace("test")]
    assert kinds.count(EventKind.STORE) == kinds.count(EventKind.COPY_READ) == 1
    (launch,) = session.launches
    assert (launch.kernel, launch.block, launch.fault) == ("store", (32, 1, 1), "")


def test_hello_gives_the_device(client):
    base, end, sms, _, _, _, capability = client.hello()
    assert (base, end, sms, capability) == (HEAP_BASE, HEAP_END, 15, 75)


def test_after_a_fault_every_request_gets_its_error(client):
    kernel = _load(client)
    _, (address,) = client.ask("allocate", 4, 0, 0, 0, 0)
    assert _launch(client, kernel, address, 1) == CudaError.SUCCESS
    assert _launch(client, kernel, address + 4, 1) == CudaError.SUCCESS
    for name, numbers in (
        ("synchronize", (0, 0)),
        ("allocate", (4, 0, 0, 0, 0)),
        ("free", (address,)),
    ):
        assert client.ask(name, *numbers)[0] == CudaError.ILLEGAL_ADDRESS
    assert _launch(client, kernel, address, 1) == CudaError.ILLEGAL_ADDRESS
    (session,) = client.server.sessions
    assert [bool(launch.fault) for launch in session.launches] == [False, True]
    # What ran before the fault is in the trace.
    stores = [event for event in session.trace("test") if event.kind == EventKind.STORE]
    assert stores[0].lanes[0].address == address


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"kernel": 9}, CudaError.INVALID_DEVICE_FUNCTION),
        ({"stream": 9}, CudaError.INVALID_RESOURCE_HANDLE),
        ({"grid": (0, 1, 1)}, CudaError.INVALID_CONFIGURATION),
        ({"block": (1025, 1, 1)}, CudaError.INVALID_CONFIGURATION),
        ({"block": (1, 1, 65)}, CudaError.INVALID_CONFIGURATION),
        ({"cluster": (2, 1, 1)}, CudaError.INVALID_CLUSTER_SIZE),
        ({"cluster": (1, 0, 1)}, CudaError.INVALID_CLUSTER_SIZE),
    ],
)
def test_a_launch_that_cannot_be(client, changes, error):
    kernel = _load(client)
    _, (address,) = client.ask("allocate", 4, 0, 0, 0, 0)
    assert _launch(client, **{"kernel": kernel, "address": address, "value": 1, **changes}) == error
    assert _launch(client, kernel, address, 1) == CudaError.SUCCESS


@pytest.mark.parametrize(
    ("name", "numbers", "tail", "error"),
    [
        ("allocate", (0, 0, 0, 0, 0), b"", CudaError.INVALID_VALUE),
        ("allocate", (8, 3, 0, 0, 0), b"", CudaError.INVALID_VALUE),
        ("allocate", (1 << 40, 0, 0, 0, 0), b"", CudaError.MEMORY_ALLOCATION),
        ("free", (HEAP_BASE,), b"", CudaError.INVALID_VALUE),
        ("fill", (HEAP_BASE, 4, 4, 1, 0, 0, 0), b"", CudaError.INVALID_VALUE),
        ("fill", (HEAP_BASE, 0, 4, 1 << 60, 0, 0, 0), b"", CudaError.INVALID_VALUE),
        ("copy", (0, 4, HEAP_BASE, 4, 4, 1, 2, 0, 0, 0, 0), b"", CudaError.INVALID_VALUE),
        ("copy", (0, 4, 0, 4, 4, 1, 9, 0, 0, 0, 0), b"", CudaError.INVALID_MEMCPY_DIRECTION),
        ("load_module", (), b"nothing", CudaError.NO_KERNEL_IMAGE),
        ("load_module", (), fat_binary(".version 8.0 nonsense"), CudaError.INVALID_PTX),
        ("find_kernel", (0,), b"store", CudaError.INVALID_DEVICE_FUNCTION),
        ("find_symbol", (0,), b"variable", CudaError.SYMBOL_NOT_FOUND),
        ("synchronize", (1, 5), b"", CudaError.INVALID_RESOURCE_HANDLE),
        ("synchronize", (7, 0), b"", CudaError.INVALID_VALUE),
        ("destroy_stream", (0,), b"", CudaError.INVALID_RESOURCE_HANDLE),
    ],
)
def test_a_request_that_makes_no_sense(client, name, numbers, tail, error):
    client.hello()
    if name == "fill":
        client.ask("allocate", 3, 0, 0, 0, 0)
    assert client.ask(name, *numbers, tail=tail)[0] == error
    assert client.ask("synchronize", 0, 0)[0] == CudaError.SUCCESS


def test_memory_that_is_freed_is_zero_when_it_comes_again(client):
    kernel = _load(client)
    for _ in range(2):
        _, (address,) = client.ask("allocate", 64, 0, 0, 0, 0)
        (session,) = client.server.sessions
        device = session._context.device
        assert not device.read(address, np.uint8, 64).any()
        _launch(client, kernel, address, 0xFFFFFFFF)
        assert client.ask("free", address)[0] == 0
        assert device.buffer(address) is None


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (REQUEST_HEADER.pack(99, 0), "Code of a message must be from 1 to 21, not 99"),
        (REQUEST_HEADER.pack(8, 1 << 29), "at most 268435456 bytes"),
        (REQUEST_HEADER.pack(8, 4) + bytes(4), "Body of message free must be 8 bytes, not 4"),
        (MESSAGES[8].encode(0), "hello must come first and once, not free now"),
        (MESSAGES[1].encode(MAGIC, VERSION + 1, 1), f"hello must have .* not .* and {VERSION + 1}"),
        (MESSAGES[1].encode(MAGIC + 1, VERSION, 1), f"hello must have .* and version {VERSION}"),
    ],
)
def test_a_message_that_breaks_a_rule_ends_the_server(tmp_path, data, sentence):
    with Client(tmp_path) as client:
        client.send(data)
        assert client.receive(1) == b""
    assert isinstance(client.error, ProtocolError)
    with pytest.raises(ProtocolError, match=sentence):
        raise client.error


def test_hello_comes_once(tmp_path):
    with Client(tmp_path) as client:
        client.hello()
        client.send(MESSAGES[1].encode(MAGIC, VERSION, 1))
        assert client.receive(1) == b""
    assert isinstance(client.error, ProtocolError)


def test_a_message_that_ends_early(tmp_path):
    with Client(tmp_path) as client:
        client.send(MESSAGES[1].encode(MAGIC, VERSION, 1)[:-1])
        client.finish()
    assert isinstance(client.error, ProtocolError)


@pytest.mark.parametrize("seed", range(8))
def test_noise_ends_in_one_error_or_none(tmp_path, seed):
    random = Random(seed)
    with Client(tmp_path) as client:
        if seed % 2:
            client.hello()
        client.send(random.randbytes(random.randint(1, 400)))
        client.finish()
    assert client.error is None or isinstance(client.error, ProtocolError)


@pytest.mark.parametrize("seed", range(8))
def test_well_formed_nonsense_always_has_a_reply(tmp_path, seed):
    """Requests with numbers at random, of which some mean something."""
    random = Random(seed)
    with Client(tmp_path, stall_limit=1000) as client:
        kernel = _load(client)
        known = [0, 1, 2, 3, 4, 32, kernel, HEAP_BASE, HEAP_END, (1 << 32) - 1]
        for _ in range(150):
            message = random.choice([m for m in MESSAGES.values() if m.name != "hello"])
            limits = [(1 << 32) - 1 if f.type == "u32" else (1 << 64) - 1 for f in message.request]
            numbers = [
                min(random.choice(known), limit) if random.random() < 0.9
                else random.randint(0, limit)
                for limit in limits
            ]  # fmt: skip
            if message.name == "launch":  # not a grid of billions of blocks
                numbers[1:7] = [random.randint(0, 3) for _ in range(6)]
            tail = random.choice((b"", b"store", fat_binary(_PTX), random.randbytes(12)))
            status, reply = client.ask(message.name, *numbers, tail=tail if message.tail else b"")
            if not status and message.name in ("allocate", "create_stream", "create_event"):
                known.append(reply[0])
    assert client.error is None
