"""AXI4 and AXI4-Lite port signatures with the specification's signal names.

Directions are the manager's; a subordinate takes ``In(...)`` of the signature.

Ref: AMBA AXI and ACE Protocol Specification (IHI 0022), chapters A2 and B1.
"""

from __future__ import annotations

from enum import IntEnum

from amaranth.hdl import Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class AxiResponse(IntEnum):
    """Codes of BRESP and RRESP."""

    OKAY = 0
    EXOKAY = 1
    SLVERR = 2
    DECERR = 3


def is_error(response: Value) -> Value:
    """Whether a response is ``SLVERR`` or ``DECERR``.

    ``EXOKAY`` is no error: nothing here requests exclusive access, and a subordinate that answers
    so has still done the access.
    """
    return response[1]


def _address_channel(prefix: str, address_bits: int, id_bits: int) -> dict:
    return {
        f"{prefix}id": Out(id_bits),
        f"{prefix}addr": Out(address_bits),
        f"{prefix}len": Out(8),
        f"{prefix}size": Out(3),
        f"{prefix}burst": Out(2),
        f"{prefix}lock": Out(1),
        f"{prefix}cache": Out(4),
        f"{prefix}prot": Out(3),
        f"{prefix}valid": Out(1),
        f"{prefix}ready": In(1),
    }


class Axi4WriteSignature(wiring.Signature):
    """The write half of an AXI4 manager port.

    Parameters
    ----------
    address_bits, data_bits, id_bits : int
        Widths of AWADDR, WDATA and AWID/BID.
    """

    def __init__(self, *, address_bits: int, data_bits: int, id_bits: int):
        super().__init__({
            **_address_channel("aw", address_bits, id_bits),
            "wdata": Out(data_bits),
            "wstrb": Out(data_bits // 8),
            "wlast": Out(1),
            "wvalid": Out(1),
            "wready": In(1),
            "bid": In(id_bits),
            "bresp": In(2),
            "bvalid": In(1),
            "bready": Out(1),
        })  # fmt: skip


class Axi4Signature(wiring.Signature):
    """A whole AXI4 manager port.

    Parameters
    ----------
    address_bits, data_bits, id_bits : int
        Widths of the addresses, of the data and of all ids.
    """

    def __init__(self, *, address_bits: int, data_bits: int, id_bits: int):
        write = Axi4WriteSignature(address_bits=address_bits, data_bits=data_bits, id_bits=id_bits)
        super().__init__({
            **dict(write.members),
            **_address_channel("ar", address_bits, id_bits),
            "rid": In(id_bits),
            "rdata": In(data_bits),
            "rresp": In(2),
            "rlast": In(1),
            "rvalid": In(1),
            "rready": Out(1),
        })  # fmt: skip


class Axi4SnoopSignature(wiring.Signature):
    """What a passive listener needs of a whole AXI4 port: addresses and last responses.

    Parameters
    ----------
    address_bits, id_bits : int
        Widths of the addresses and of all ids.
    """

    def __init__(self, *, address_bits: int, id_bits: int):
        members: dict = {}
        for prefix in ("ar", "aw"):
            members |= {
                f"{prefix}id": Out(id_bits), f"{prefix}addr": Out(address_bits),
                f"{prefix}len": Out(8), f"{prefix}size": Out(3), f"{prefix}burst": Out(2),
                f"{prefix}valid": Out(1), f"{prefix}ready": Out(1),
            }  # fmt: skip
        super().__init__({
            **members, "rid": Out(id_bits), "rlast": Out(1), "rvalid": Out(1), "rready": Out(1),
            "bid": Out(id_bits), "bvalid": Out(1), "bready": Out(1),
        })  # fmt: skip


class AxiLiteSignature(wiring.Signature):
    """An AXI4-Lite manager port with 32-bit data.

    Parameters
    ----------
    address_bits : int
        Width of the addresses.
    """

    def __init__(self, *, address_bits: int):
        super().__init__({
            "awaddr": Out(address_bits),
            "awprot": Out(3),
            "awvalid": Out(1),
            "awready": In(1),
            "wdata": Out(32),
            "wstrb": Out(4),
            "wvalid": Out(1),
            "wready": In(1),
            "bresp": In(2),
            "bvalid": In(1),
            "bready": Out(1),
            "araddr": Out(address_bits),
            "arprot": Out(3),
            "arvalid": Out(1),
            "arready": In(1),
            "rdata": In(32),
            "rresp": In(2),
            "rvalid": In(1),
            "rready": Out(1),
        })  # fmt: skip
