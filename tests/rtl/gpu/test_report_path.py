"""The report path as a whole: nothing is lost, and idle says so."""

from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.gpu.report_path import ReportPath
from tests.support.rtl.axi_memory import AxiMemory
from tests.support.rtl.streams import put_all, random_idle, simulate

PARAMS = ScordParams(banks=4, report_filter_entries=4)
LAYOUT = PARAMS.report_layout


def word(bank, number):
    return LAYOUT.pack({
        **dict.fromkeys(LAYOUT.fields, 0), "bank": bank, "pc": number, "race": 1,
    })  # fmt: skip


def test_merges_the_banks_in_order_of_each():
    dut = ReportPath(PARAMS)
    memory = AxiMemory(dut.m_axi, idle=random_idle(3))
    done = []

    async def host(ctx):
        ctx.set(dut.i_capacity_log2, 10)
        while len(done) < PARAMS.banks or not ctx.get(dut.o_idle):
            await ctx.tick()

    def sender(bank):
        words = [word(bank, number) for number in range(10)]

        async def testbench(ctx):
            await put_all(dut.i[bank], words, idle=random_idle(bank))(ctx)
            done.append(bank)

        return testbench

    simulate(dut, host, *map(sender, range(PARAMS.banks)), background=memory.testbenches())
    records = [
        LAYOUT.unpack(sum(memory.words[address // 8 + beat] << 64 * beat for beat in range(4)))
        for address, _ in memory.bursts
    ]
    assert [record["sequence"] for record in records] == list(range(40))
    for bank in range(PARAMS.banks):
        assert [r["pc"] for r in records if r["bank"] == bank] == list(range(10))


def test_is_not_idle_from_the_first_cycle_to_the_last():
    dut = ReportPath(PARAMS)
    memory = AxiMemory(dut.m_axi)
    seen = []

    async def watch(ctx):
        while True:
            *_, taken, is_idle, written = await ctx.tick().sample(
                dut.i[2].valid & dut.i[2].ready, dut.o_idle, dut.o_written
            )
            seen.append((taken, is_idle, written))

    async def host(ctx):
        while not ctx.get(dut.o_idle):  # the filter is cleared after reset
            await ctx.tick()
        await put_all(dut.i[2], [word(2, 7)])(ctx)
        while not ctx.get(dut.o_idle):
            await ctx.tick()
        await ctx.tick()

    simulate(dut, host, background=[watch, *memory.testbenches()])
    taken, idle, written = ([cycle for cycle, bits in enumerate(seen) if bits[k]] for k in range(3))
    assert len(taken) == len(written) == 1
    assert written[0] - taken[0] > 6
    assert not set(idle) & set(range(taken[0] + 1, written[0] + 1))
    assert written[0] + 1 in idle
