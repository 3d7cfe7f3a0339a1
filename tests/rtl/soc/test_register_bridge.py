"""The register bridge between two masters and registers, and planted bugs."""

from random import Random

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring

from racetrap.rtl.common.registers import RegisterBlock
from tests.support.campaign import one_in
from tests.support.planted_bugs import module_with
from tests.support.rtl.small_registers import DESCRIPTION, compile_text
from tests.support.rtl.streams import simulate

#: Registers of the description: what each holds at first, and the bits that a write changes.
_REGISTERS = {0x0: (0x1234ABCD, 0), 0x8: (0x55AA00FF, 0xFFFF_FFFF), 0x44: (0x3C, 0xFF00_00FF)}
_BUGS = {
    "first-master-only": ("second.eq(~first.valid)", "second.eq(0)"),
    "answer-goes-to-both": ("done & (second == number)", "done"),
    "address-is-offered-again": (
        "registers.awvalid.eq(is_write & ~address_taken)", "registers.awvalid.eq(is_write)"
    ),
    "strobes-of-the-other": (
        "registers.wstrb.eq(Mux(second, other.wstrb, first.wstrb))", "registers.wstrb.eq(15)"
    ),
}  # fmt: skip


def _differs(tmp_path, bug):
    """Master, access and what it read, of the first that is not as its turn left the registers."""
    m = Module()
    m.submodules.block = block = RegisterBlock(compile_text(tmp_path, DESCRIPTION))
    m.submodules.bridge = bridge = module_with("soc/register_bridge.py", bug).RegisterBridge()
    wiring.connect(m, bridge.registers, block.s_axil)
    held, differing = {address: first for address, (first, _) in _REGISTERS.items()}, []

    def master(number):
        port, random = bridge.masters[number], Random(number)

        async def play(ctx):
            for turn in range(40):
                wstrb, wdata = random.choice((0, 0, 15, 3)), random.getrandbits(32)
                address = random.choice([at for at in _REGISTERS if at or not wstrb])
                for name, value in (("address", address), ("wdata", wdata), ("wstrb", wstrb)):
                    ctx.set(getattr(port, name), value)
                ctx.set(port.valid, 1)
                for _ in range(60):
                    *_, ready, found = await ctx.tick().sample(port.ready, port.rdata)
                    if ready:
                        break
                else:
                    differing.append((number, turn, "no answer"))
                    return
                ctx.set(port.valid, 0)
                if not wstrb and found != held[address]:
                    differing.append((number, turn, hex(found)))
                mask = sum(0xFF << 8 * byte for byte in range(4) if wstrb >> byte & 1)
                mask &= _REGISTERS[address][1]
                held[address] = held[address] & ~mask | wdata & mask
                await ctx.tick().repeat(random.randrange(3) + 1)

        return play

    simulate(m, master(0), master(1), cycles=20_000)
    return differing


def test_each_master_is_answered_with_its_own_access(tmp_path):
    assert _differs(tmp_path, None) == []


@pytest.mark.parametrize("name", one_in(len(_BUGS), _BUGS))
def test_planted_bug_is_found(tmp_path, name):
    assert _differs(tmp_path, _BUGS[name])
