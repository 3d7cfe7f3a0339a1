"""Messages between a CUDA program's runtime library and the executor, each declared once.

The header that the library is compiled with is made of this table, requests are decoded by it,
and so is the page of the protocol.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from racetrap.sim.gpu.cuda.protocol import CPP_TYPES, MAGIC, MOST_BYTES, VERSION, Field, Message


class AllocationKind(IntEnum):
    """Where the memory that ``allocate`` gives can be used."""

    DEVICE = 0
    PINNED = 1
    MANAGED = 2


class SynchronizeKind(IntEnum):
    """What ``synchronize`` waits for."""

    ALL = 0
    STREAM = 1
    EVENT = 2


def _u32(name: str, meaning: str) -> Field:
    return Field(name, "u32", meaning)


def _u64(name: str, meaning: str) -> Field:
    return Field(name, "u64", meaning)


_STREAM = _u32("stream", "stream: 0 the legacy default stream, others as created")
_EVENT = _u32("event", "event, as created")
_SITE = _u32("site", "place of the call in the program, as `site` gave it; 0 if unknown")
_MODULE = _u32("module", "module, as `load_module` gave it")
_ASYNCHRONOUS = _u32("asynchronous", "1 for the form of the function that names a stream")
_ADDRESS = _u64("address", "address")
_BYTES = _u64("bytes", "bytes")
_SHAPE = tuple(
    _u32(f"{name}_{axis}", f"{what} in dimension {axis}")
    for name, what in (("grid", "blocks"), ("block", "threads of a block"))
    for axis in "xyz"
)
_CLUSTER = tuple(
    _u32(f"cluster_{axis}", f"blocks of a cluster in dimension {axis}; 0 if it is not given")
    for axis in "xyz"
)

_MESSAGES = (
    Message(
        "hello", 1, "Open the connection. The reply carries the descriptor of the file of device "
        "memory.",
        (_u32("magic", f"{MAGIC:#x}"), _u32("version", "version of the protocol"),
         _u32("process", "number of the program's process")),
        (_u64("base", "first address of device memory"),
         _u64("end", "end of device memory; the file holds the addresses from 0 to here"),
         _u32("sm_count", "number of SMs"), _u32("blocks_per_sm", "block slots of an SM"),
         _u32("warps_per_sm", "warp slots of an SM"),
         _u32("shared_per_sm", "bytes of shared memory of an SM"),
         _u32("capability", "compute capability, 10 * major + minor")),
    ),
    Message(
        "site", 2, "Number a place in the program that calls the library.",
        (_u64("offset", "return address, from the load address of its file"),),
        (_u32("site", "its number, from 1"),), "path of the file",
    ),
    Message(
        "load_module", 3, "Load a fat binary; only its PTX is used.",
        (), (_MODULE,), "fat binary",
    ),
    Message(
        "find_kernel", 4, "Find a kernel of a module.",
        (_MODULE,),
        (_u32("kernel", "its number"), _u32("parameters", "number of parameters, at most 256"),
         _u32("parameter_bytes", "bytes of all parameters"),
         _u32("shared_bytes", "bytes of static shared memory"),
         _u32("max_threads", "most threads in a block"),
         _u32("local_bytes", "bytes of local memory of a thread")),
        "name in the PTX",
    ),
    Message(
        "parameter", 5, "Find the place of a kernel's parameter among the bytes of all.",
        (_u32("kernel", "kernel"), _u32("number", "parameter, from 0")),
        (_u32("offset", "its first byte"), _u32("bytes", "number of its bytes")),
    ),
    Message(
        "find_symbol", 6, "Find a variable of a module.",
        (_MODULE,), (_ADDRESS, _BYTES), "name in the PTX",
    ),
    Message(
        "allocate", 7, "Allocate memory, filled with zeros.",
        (_BYTES, _u32("kind", "0 device, 1 pinned host, 2 managed memory"), _SITE,
         _u32("caller", "place of the call that led there; 0 if unknown"),
         _u32("outer", "place of the call that led to that one; 0 if unknown")),
        (_ADDRESS,),
    ),
    Message("free", 8, "Free memory, after all work has finished.", (_ADDRESS,)),
    Message(
        "free_in_stream", 9, "Free device memory as an operation of a stream.",
        (_ADDRESS, _STREAM, _SITE),
    ),
    Message(
        "copy", 10, "Copy rows of bytes. The executor checks and records; the client, which sees "
        "both memories, moves the bytes after the reply.",
        (_u64("target", "address of the first row of the target"),
         _u64("target_pitch", "bytes from one row to the next there"),
         _u64("source", "address of the first row of the source"),
         _u64("source_pitch", "bytes from one row to the next there"),
         _u64("width", "bytes of a row"), _u64("height", "rows"),
         _u32("direction", "cudaMemcpyKind"), _STREAM, _ASYNCHRONOUS,
         _u32("page_locked", "1 if the host's memory was registered"), _SITE),
        (_u32("target_in_file", "1 if the target lies in the file of device memory"),
         _u32("source_in_file", "1 if the source lies in it")),
    ),
    Message(
        "fill", 11, "Fill rows with a value; the client does so after the reply.",
        (_u64("target", "address of the first row"),
         _u64("pitch", "bytes from one row to the next"),
         _u64("width", "bytes of a row"), _u64("height", "rows"),
         _STREAM, _ASYNCHRONOUS, _SITE),
    ),
    Message(
        "launch", 12, "Run a kernel to its end.",
        (_u32("kernel", "kernel"), *_SHAPE, _u32("shared_bytes", "bytes of dynamic shared memory"),
         _STREAM, _u32("cooperative", "1 if all blocks must be resident at once"),
         *_CLUSTER, _SITE),
        (), "parameters",
    ),
    Message(
        "create_stream", 13, "Create a stream.",
        (_u32("non_blocking", "1 if it does not wait for the legacy default stream"),),
        (_STREAM,),
    ),
    Message("destroy_stream", 14, "Destroy a stream.", (_STREAM,)),
    Message("create_event", 15, "Create an event.", (), (_EVENT,)),
    Message("destroy_event", 16, "Destroy an event.", (_EVENT,)),
    Message("record_event", 17, "Record an event in a stream.", (_EVENT, _STREAM)),
    Message("wait_event", 18, "Let a stream wait for an event.", (_STREAM, _EVENT)),
    Message(
        "synchronize", 19, "Let the host wait.",
        (_u32("kind", "0 for the device, 1 for a stream, 2 for an event"),
         _u32("number", "stream or event")),
    ),
    Message(
        "reset", 20, "Free all memory, and destroy all streams and events.",
    ),
    Message(
        "not_supported", 21, "Name what the program has called and the library lacks.",
        (_SITE,), (), "what it is",
    ),
)  # fmt: skip

#: By code.
MESSAGES = {message.code: message for message in _MESSAGES}


def _structure(name: str, fields: Sequence[Field], lines: Sequence[str] = ()) -> str:
    members = [f"  {CPP_TYPES[field.type]} {field.name};" for field in fields]
    return "\n".join([f"struct {name} {{", *lines, *members, "};"])


def _enumeration(kind: type[IntEnum]) -> str:
    members = ", ".join(f"{member.name} = {member.value}" for member in kind)
    return f"enum class {kind.__name__} : uint32_t {{ {members} }};"


def _message(message: Message) -> str:
    name = "".join(word.capitalize() for word in message.name.split("_"))
    lines = [
        f"  static constexpr uint32_t code = {message.code};",
        f'  static constexpr const char *name = "{message.name}";',
        f"  using Reply = {name}Reply;",
        f"  static constexpr uint32_t request_bytes = {message.request_bytes};",
        f"  static constexpr uint32_t reply_bytes = {message.reply_bytes};",
    ]
    reply = _structure(f"{name}Reply", message.reply)
    return f"{reply}\n{_structure(f'{name}Request', message.request, lines)}"


def header() -> str:
    """C++ header of the protocol."""
    return "\n".join([
        "#pragma once",
        "#include <cstdint>",
        "namespace racetrap {",
        f"constexpr uint32_t magic = {MAGIC:#x}, version = {VERSION}, most_bytes = {MOST_BYTES};",
        *map(_enumeration, (AllocationKind, SynchronizeKind)),
        "#pragma pack(push, 1)",
        *map(_message, _MESSAGES),
        "#pragma pack(pop)",
        "}  // namespace racetrap",
        "",
    ])  # fmt: skip
