"""CoreToThread: thread of each context, and its next sequence number.

Ref: SigRace (ISCA'09) Section 4.3.1.
"""

from amaranth.hdl import Array, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.sigrace.packets import Drop
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.rtl.common.layout import struct_layout


class Place(data.Struct):
    """A context, as software and messages name it."""

    core: 8
    context: 4


class Mapping(data.Struct):
    """Thread of a context."""

    thread: 8
    valid: 1


class CoreToThread(wiring.Component):
    """Checks the origin of messages.

    ``o_drop`` and ``o_selected`` are combinational; a change is visible in the next cycle.  A place
    that does not exist has no thread, and mapping it has no effect.

    Parameters
    ----------
    params : SigraceParams
        Configuration.

    Members
    -------
    i_header : ``In(header_layout)``
        Header of the message that is checked.
    i_link : ``In(range(cores))``
        Link on which it arrived.
    i_is_malformed : ``In(1)``
        It could not be decoded.
    o_drop : ``Out(3)``
        ``Drop``: reason to drop it, or NONE.
    i_follow, i_is_checked : ``In(1)``
        The message has been taken, and whether it was checked (dropped for ``o_drop``, or ignored):
        its successor is expected from now on, unless it is malformed or not from this place and
        thread.
    i_place : ``In(Place)``
        Context that software has selected.
    o_mapping, o_expected : ``Out(Mapping)``, ``Out(sequence_bits)``
        Its thread, and the sequence number expected from it; 0 if there is no such context.
    i_mapping : ``In(stream.Signature(Mapping, always_ready=True))``
        New mappings of the selected context.
    """

    def __init__(self, params: SigraceParams):
        self._params = params
        super().__init__({
            "i_header": In(struct_layout(params.header_layout)),
            "i_link": In(range(params.cores)),
            "i_is_malformed": In(1),
            "o_drop": Out(3),
            "i_follow": In(1),
            "i_is_checked": In(1),
            "i_place": In(Place),
            "o_mapping": Out(Mapping),
            "o_expected": Out(params.sequence_bits),
            "i_mapping": In(stream.Signature(Mapping, always_ready=True)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params, header = self._params, self.i_header
        count = params.cores * params.contexts
        mappings = Array(Signal(Mapping, name=f"mapping_{k}") for k in range(count))
        expected = Array(Signal(params.sequence_bits, name=f"expected_{k}") for k in range(count))

        is_place, index = self._locate(m, "sent", header.core, header.context)
        mapping = mappings[index]
        is_here = is_place & (header.core == self.i_link)
        is_thread = (header.thread < params.threads) & (header.thread == mapping.thread)
        with m.If(self.i_is_malformed):
            m.d.comb += self.o_drop.eq(Drop.MALFORMED)
        with m.Elif(~is_here | ~mapping.valid):
            m.d.comb += self.o_drop.eq(Drop.UNMAPPED)
        with m.Elif(~is_thread):
            m.d.comb += self.o_drop.eq(Drop.THREAD)
        with m.Elif(header.sequence != expected[index]):
            m.d.comb += self.o_drop.eq(Drop.SEQUENCE)
        # A message from another thread says nothing about this context's next message.
        is_own = (self.o_drop == Drop.NONE) | (self.o_drop == Drop.SEQUENCE)
        with m.If(self.i_follow & Mux(self.i_is_checked, is_own, ~self.i_is_malformed & is_here)):
            m.d.sync += expected[index].eq(header.sequence + 1)

        is_selected, selected = self._locate(m, "selected", self.i_place.core, self.i_place.context)
        with m.If(is_selected):
            m.d.comb += [
                self.o_mapping.eq(mappings[selected]),
                self.o_expected.eq(expected[selected]),
            ]
            with m.If(self.i_mapping.valid):
                m.d.sync += mappings[selected].eq(self.i_mapping.p)
        return m

    def _locate(self, m: Module, name: str, core: Value, context: Value) -> tuple[Value, Value]:
        """Whether there is such a context, and its number in the table."""
        params = self._params
        index = Signal(range(params.cores * params.contexts), name=f"{name}_index")
        is_place = (core < params.cores) & (context < params.contexts)
        m.d.comb += index.eq(Mux(is_place, core * params.contexts + context, 0))
        return is_place, index
