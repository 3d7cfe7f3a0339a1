"""Rules of any AXI4 port, for proofs: requests that wait stay as they are, bursts keep to 4 KiB."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal, Value

_PAGE = 4096


def stays(m: Module, axi, channel: str, *fields: str) -> Value:
    """Whether what a manager offers on a channel stays until it is taken.

    Parameters
    ----------
    m : Module
        Module of the harness.
    axi : AXI4 port
        As the harness sees it.
    channel : str
        ``"ar"``, ``"aw"`` or ``"w"``.
    *fields : str
        Signals of the channel without its name, as ``"addr"``.
    """
    valid, ready = (getattr(axi, f"{channel}{name}") for name in ("valid", "ready"))
    offered = Cat(Value.cast(getattr(axi, f"{channel}{name}")) for name in fields)
    waits, waiting = Signal(), Signal(len(offered))
    m.d.sync += [waits.eq(valid & ~ready), waiting.eq(offered)]
    return ~waits | (valid & (offered == waiting))


def keeps_page(axi, channel: str, beats: int) -> Value:
    """Whether a request is an aligned burst of so many beats in one page of 4 KiB."""
    valid, address, length, size = (
        getattr(axi, f"{channel}{name}") for name in ("valid", "addr", "len", "size")
    )
    first = address[: _PAGE.bit_length() - 1]
    beat = (1 << size)[: _PAGE.bit_length()]
    fits = first + beats * beat <= _PAGE
    return ~valid | ((length == beats - 1) & ((first & (beat - 1)) == 0) & fits)
