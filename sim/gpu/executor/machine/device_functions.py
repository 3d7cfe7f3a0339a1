"""Functions that CUDA provides to kernels without a body: ``printf``, assertions, ``malloc``.

Ref: CUDA C++ Programming Guide (13.0), "Formatted Output",
"Assertion" and "Dynamic Global Memory Allocation and Operations".
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING

from racetrap.golden_model.events import WARP_SIZE, lanes_of
from racetrap.sim.gpu.executor.machine.errors import ExecutionError, Fault, KernelFault
from racetrap.sim.gpu.executor.machine.faults import thread_name
from racetrap.sim.gpu.executor.machine.memory import LOCAL_WINDOW

if TYPE_CHECKING:
    from racetrap.sim.gpu.executor.machine.warp import Warp


#: Arguments of a lane, as the bytes of each parameter.
_Arguments = list[bytes]
#: Flags, width, precision, length and conversion.
_CONVERSION = re.compile(
    r"%([-+ #0]*)(\*|\d+)?(\.(?:\*|\d+)?)?(hh|ll|[hlzjt])?([diouxXcsaAeEfFgGp%])"
)
_LONG = ("l", "ll", "z", "j", "t")
_MOST_CHARACTERS = 1 << 12


class _Values:
    """Values of a ``printf``, one after the other, each aligned to its size."""

    def __init__(self, read: Callable[[int, int], bytes]):
        self._read, self._offset = read, 0

    def next(self, code: str) -> int | float:
        """The next value, in the code of ``struct``."""
        size = struct.calcsize(code)
        start = -(-self._offset // size) * size
        self._offset = start + size
        value: int | float = struct.unpack(f"<{code}", self._read(start, size))[0]
        return value


def formatted(text: str, read: Callable[[int, int], bytes], string: Callable[[int], str]) -> str:
    """What ``printf`` prints.

    Parameters
    ----------
    text : str
        Format.
    read : callable
        Bytes of the values, by their first one and their number.
    string : callable
        Text at an address.
    """
    values = _Values(read)

    def convert(match: re.Match[str]) -> str:
        flags, width, precision, length, kind = match.groups(default="")
        if kind == "%":
            return "%"
        width = str(values.next("i")) if width == "*" else width
        precision = f".{values.next('i')}" if precision == ".*" else precision
        return _converted(f"%{flags}{width}{precision}", length, kind, values, string)

    return _CONVERSION.sub(convert, text)


def _converted(
    head: str, length: str, kind: str, values: _Values, string: Callable[[int], str]
) -> str:
    if kind == "s":
        return (head + "s") % string(int(values.next("Q")))
    if kind == "c":
        return (head + "c") % (int(values.next("I")) & 0xFF)
    if kind == "p":
        return (head + "s") % hex(int(values.next("Q")))
    if kind in "aA":
        return (head + "s") % float(values.next("d")).hex()
    if kind in "eEfFgG":
        return (head + kind) % values.next("d")
    code = "q" if length in _LONG else "i"
    number = int(values.next(code if kind in "di" else code.upper()))
    if length in ("h", "hh"):
        bits = 16 if length == "h" else 8
        number &= (1 << bits) - 1
        if kind in "di" and number >> bits - 1:
            number -= 1 << bits
    return (head + ("d" if kind in "diu" else kind)) % number


def _text_at(warp: Warp, address: int) -> str:
    """Text up to the next 0 in global memory; as much of it as lies in a buffer."""
    buffer = warp.heap.find(address)
    if buffer is None:
        return "(null)"
    end = min(buffer.address + buffer.size, address + _MOST_CHARACTERS)
    raw = warp.heap.views.raw[address:end].tobytes()
    return raw.partition(b"\0")[0].decode(errors="replace")


def _print(warp: Warp, lane: int, arguments: _Arguments) -> bytes:
    """``vprintf``: a format, and the address of the values in local memory."""
    text, values = (int.from_bytes(each, "little") for each in arguments)
    memory = warp.local.raw.reshape(WARP_SIZE, warp.local_size)[lane]

    def read(offset: int, size: int) -> bytes:
        first = values - LOCAL_WINDOW + offset
        return memory[first : first + size].tobytes().ljust(size, b"\0")

    line = formatted(_text_at(warp, text), read, lambda address: _text_at(warp, address))
    warp.launch.write(line)
    return len(line).to_bytes(4, "little")


def _fail(warp: Warp, lane: int, arguments: _Arguments) -> bytes:
    """``__assertfail``: the assertion, its file, line and function."""
    sentence, file, line, function, _ = (int.from_bytes(each, "little") for each in arguments)
    raise KernelFault(
        Fault.ASSERTION,
        (
            f"{_text_at(warp, file)}:{line}: Assertion `{_text_at(warp, sentence)}` "
            f"failed in {_text_at(warp, function)} ({thread_name(warp, lane)})"
        ),
    )


def _allocate(warp: Warp, lane: int, arguments: _Arguments) -> bytes:
    """``malloc``: a buffer of zeros; a null pointer for no bytes, or if there is no room."""
    size = int.from_bytes(arguments[0], "little")
    try:
        address = warp.heap.allocate(size, f"malloc({size})") if size else 0
    except ExecutionError:
        address = 0
    return address.to_bytes(8, "little")


def _free(warp: Warp, lane: int, arguments: _Arguments) -> bytes:
    """``free``; nothing for a null pointer."""
    address = int.from_bytes(arguments[0], "little")
    try:
        if address:
            warp.heap.free(address)
    except ValueError as error:
        raise KernelFault(Fault.ILLEGAL_ADDRESS, f"{error} ({thread_name(warp, lane)})") from None
    return b""


#: By name: takes the warp, a lane and its arguments, gives the bytes of the result.
DEVICE_FUNCTIONS: dict[str, Callable[[Warp, int, _Arguments], bytes]] = {
    "vprintf": _print,
    "__assertfail": _fail,
    "malloc": _allocate,
    "free": _free,
}


def call_device_function(
    warp: Warp, name: str, pc: int, arguments: tuple[str, ...], results: tuple[str, ...]
) -> None:
    """Let the active lanes call such a function, one after the other, at a program counter."""
    parameters = warp.frame.parameters
    warp.polls.changed = True
    for lane in lanes_of(warp.mask):
        own = [parameters[argument][lane].tobytes() for argument in arguments]
        result = DEVICE_FUNCTIONS[name](warp, lane, own)
        if name == "free":
            warp.launch.sleepers.wake_all()
        if name == "malloc":
            size, address = (int.from_bytes(each, "little") for each in (own[0], result))
            warp.launch.made.append((address, size, pc))
        for variable in results:
            parameters[variable][lane, : len(result)] = list(result)
