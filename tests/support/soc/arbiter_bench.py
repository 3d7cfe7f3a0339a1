"""Plays two masters and a memory at the arbiter between them."""

from random import Random

from tests.support.rtl.streams import simulate

_ROUNDS, _LONGEST, _MASK = 60, 9, 0xFFFF_FFFF


def arbiter_problems(dut, seed=0):
    """What is not as it must be: an answer of another access, or none, or one that changes."""
    problems, done = [], []

    def master(number):
        port, random = dut.masters[number], Random(3 * seed + number)

        async def play(ctx):
            for _ in range(_ROUNDS):
                # The answer shows whose access memory has seen.
                word, strobes = random.getrandbits(31) << 1 | number, random.choice((0, 3, 15))
                for name, value in (("address", word), ("wdata", ~word & _MASK),
                                    ("wstrb", strobes), ("valid", 1)):  # fmt: skip
                    ctx.set(getattr(port, name), value)
                # Its own access takes four cycles at most, and so does one of the other's.
                for _ in range(_LONGEST):
                    *_, ready, found = await ctx.tick().sample(port.ready, port.rdata)
                    if ready:
                        break
                else:
                    problems.append((number, "no answer"))
                    break
                if found != word ^ strobes:
                    problems.append((number, hex(word), hex(found)))
                if number:
                    ctx.set(port.valid, 0)
                    for _ in range(random.randrange(3) + 1):
                        await ctx.tick()
            ctx.set(port.valid, 0)
            done.append(number)

        return play

    async def memory(ctx):
        port, random = dut.memory, Random(3 * seed + 2)
        while len(done) < 2:
            *_, valid, address, strobes, data = await ctx.tick().sample(
                port.valid, port.address, port.wstrb, port.wdata
            )
            if not valid:
                continue
            if data != ~address & _MASK:
                problems.append("address and data of two accesses")
            ctx.set(port.rdata, address ^ strobes)
            for is_last in (*[False] * random.randrange(3), True):
                ctx.set(port.ready, is_last)
                *_, now = await ctx.tick().sample(port.address)
                if now != address:
                    problems.append("an access has changed")
            ctx.set(port.ready, 0)

    simulate(dut, master(0), master(1), memory, cycles=2_000)
    return problems
