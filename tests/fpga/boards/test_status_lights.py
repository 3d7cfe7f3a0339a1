"""Status lights: levels of a device's pulses, one cycle later."""

from racetrap.fpga.boards.status_lights import LIGHTS, StatusLights
from tests.support.rtl.streams import simulate

_STRETCH_BITS = 3


def lights(dut, pulses, cycles):
    """What each light says, a tuple a cycle; ``pulses`` has cycles and values by input."""
    seen = []

    async def testbench(ctx):
        for cycle in range(cycles):
            for name, values in pulses.items():
                ctx.set(getattr(dut, name), values.get(cycle, 0))
            word = ctx.get(dut.o_lights)
            seen.append(tuple(word >> bit & 1 for bit in range(len(LIGHTS))))
            await ctx.tick()

    simulate(dut, testbench)
    return list(zip(*seen, strict=True))


def test_link_follows():
    link, *others = lights(StatusLights(_STRETCH_BITS), {"i_link_up": {2: 1, 3: 1, 5: 1}}, 8)
    assert link == (0, 0, 0, 1, 1, 0, 1, 0)
    for other in others:
        assert set(other) == {0}


def test_busy_is_stretched_from_its_last_cycle():
    stretch = (1 << _STRETCH_BITS) - 1
    dut = StatusLights(_STRETCH_BITS)
    _, busy, *_ = lights(dut, {"i_busy": {2: 1, 6: 1, 30: 1}}, 50)
    lit = [*range(3, 7 + stretch), *range(31, 31 + stretch)]
    assert [cycle for cycle, level in enumerate(busy) if level] == lit


def test_race_and_error_stay_apart_until_reset():
    dut = StatusLights(_STRETCH_BITS)
    *_, race, error = lights(dut, {"i_race": {4: 1}, "i_error": {9: 1}}, 60)
    assert race == (0,) * 5 + (1,) * 55
    assert error == (0,) * 10 + (1,) * 50
