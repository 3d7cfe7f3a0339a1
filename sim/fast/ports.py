"""The generated header through which the C++ shim reaches a Verilated design's ports.

It holds types, counts and references only, taken from the side-car of the generated Verilog;
all behaviour is in the hand-written ``shim.cpp`` and ``axi_memory.h``.
"""

from __future__ import annotations

from collections.abc import Mapping

from racetrap.golden_model.scord.params import ScordParams

__all__ = ["ports_header"]

_WRITE = (
    "awid", "awaddr", "awlen", "awsize", "awvalid", "awready", "wdata", "wstrb", "wlast",
    "wvalid", "wready", "bid", "bresp", "bvalid", "bready",
)  # fmt: skip
_READ = (
    "arid", "araddr", "arlen", "arsize", "arvalid", "arready", "rid", "rdata", "rresp", "rlast",
    "rvalid", "rready",
)  # fmt: skip
_LITE = (
    "awaddr", "awvalid", "awready", "wdata", "wstrb", "wvalid", "wready", "bresp", "bvalid",
    "bready", "araddr", "arvalid", "arready", "rdata", "rresp", "rvalid", "rready",
)  # fmt: skip

_HEADER = """\
// Generated: the ports of {top} as shim.cpp names them.

#pragma once

#include <cstdint>
#include <cstring>

#include "V{top}.h"

using Top = V{top};
constexpr int SMS = {sms}, BANKS = {banks}, METADATA_PORTS = {metadata_ports};
constexpr int TRANSACTION_WORDS = {transaction_words}, STEP_WORDS = {step_words};

template <class T> void load(T& port, const uint32_t* words) {{
    uint64_t value = words[0];
    if (sizeof(T) > 4) value |= uint64_t(words[1]) << 32;
    port = T(value);
}}
template <std::size_t N> void load(VlWide<N>& port, const uint32_t* words) {{
    std::memcpy(port.data(), words, 4 * N);
}}
template <class T> void store(const T& port, uint32_t* words) {{
    words[0] = uint32_t(port);
    if (sizeof(T) > 4) words[1] = uint32_t(uint64_t(port) >> 32);
}}
template <std::size_t N> void store(const VlWide<N>& port, uint32_t* words) {{
    std::memcpy(words, port.data(), 4 * N);
}}

"""


def _words(bits: int) -> int:
    return -(-bits // 32)


def _type(width: int) -> str:
    """Type of a port of that width in Verilator's C++."""
    for bits, name in ((8, "CData"), (16, "SData"), (32, "IData"), (64, "QData")):
        if width <= bits:
            return name
    return f"VlWide<{_words(width)}>"


def _member(port: str) -> str:
    """C++ name of a Verilog port: Verilator escapes double underscores."""
    return port.replace("__", "___05F")


def _struct(name: str, prefix: str, signals: tuple[str, ...], widths: Mapping[str, int]) -> str:
    """A struct of references, typed like the ports that begin with ``prefix``.

    A design without such ports (metadata in local memory) gets the struct all the same, for
    the templates that name it.
    """
    fields = [f"    {_type(widths.get(prefix + signal, 64))}& {signal};" for signal in signals]
    return "\n".join([f"struct {name} {{", *fields, "};", ""])


def _references(prefix: str, signals: tuple[str, ...]) -> str:
    return "{" + ", ".join(f"top.{_member(prefix + signal)}" for signal in signals) + "}"


def ports_header(top: str, widths: Mapping[str, int], params: ScordParams) -> str:
    """Text of ``ports.h`` for one design.

    Parameters
    ----------
    top : str
        Name of the top-level Verilog module.
    widths : mapping of str to int
        Width of each of its ports.
    params : ScordParams
        Configuration; its trace port must be there.

    Raises
    ------
    ValueError
        If the configuration has no trace port.
    """
    if not params.trace_port:
        raise ValueError("Parameter trace_port must be true for co-simulation, not False")
    groups = [
        ("TransactionPort", "transaction", "i_transaction__{}__", params.sm_count,
         ("valid", "ready", "payload")),
        ("TracePort", "trace", "trace__{}__", params.banks, ("valid", "payload")),
        ("MetadataPort", "metadata", "m_axi_metadata__{}__",
         0 if params.local_bytes else params.banks, _WRITE + _READ),
    ]  # fmt: skip
    single = [
        ("ReportPort", "report", "m_axi_report__", _WRITE),
        ("LitePort", "lite", "s_axil__", _LITE),
    ]
    text = _HEADER.format(
        top=top,
        sms=params.sm_count,
        banks=params.banks,
        metadata_ports=0 if params.local_bytes else params.banks,
        transaction_words=_words(params.transaction_layout.width),
        step_words=_words(params.step_layout.width),
    )
    members = ["    Top& top;"]
    for struct, member, prefix, count, signals in groups:
        text += _struct(struct, prefix.format(0), signals, widths)
        if count:
            items = ", ".join(_references(prefix.format(i), signals) for i in range(count))
            members.append(f"    {struct} {member}[{count}] = {{{items}}};")
        else:
            members.append(f"    {struct}* {member} = nullptr;")
    for struct, member, prefix, signals in single:
        text += _struct(struct, prefix, signals, widths)
        members.append(f"    {struct} {member} = {_references(prefix, signals)};")
    members.append("    explicit Ports(Top& top_) : top(top_) {}")
    return text + "\n".join(["\nstruct Ports {", *members, "};", ""])
