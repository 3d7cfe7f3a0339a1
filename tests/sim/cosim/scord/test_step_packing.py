"""Packed steps against the layout's own packing of one record."""

from racetrap.golden_model.scord.packets import Packet, Preliminary, RaceKind, Step, TableRow
from racetrap.golden_model.scord.params import ScordParams
from racetrap.sim.cosim.fast.packing import words_of
from racetrap.sim.cosim.scord.step_packing import pack_steps


def test_steps_as_the_trace_port_shows_them():
    params = ScordParams()
    layout = params.step_layout
    packet = Packet(2, 1, 1, 100, 31, 255, 1 << 15, 1 << 31, (1 << 38) - 1)
    steps = [
        Step(
            packet,
            TableRow.STORE_LOCKED,
            Preliminary.BARRIER,
            RaceKind.NOT_STRONG,
            1,
            0,
            63,
            1,
            2,
            3,
            before,
            9,
        )
        for before in (0, (1 << 64) - 1)
    ]
    fields = [dict(zip(layout.fields, step, strict=True)) for step in steps]
    expected = [layout.pack(f | {"packet": packet._asdict()}) for f in fields]
    words = pack_steps(params, steps)
    assert [int.from_bytes(row.tobytes(), "little") for row in words] == expected
    assert pack_steps(params, []).shape == (0, words_of(layout))
