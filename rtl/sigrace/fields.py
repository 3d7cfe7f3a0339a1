"""Fields: the parts of a Summary message that encoders pass to the bit packer."""

from amaranth.hdl import Module, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.sigrace.params import FLIT_BITS, SigraceParams
from racetrap.rtl.sigrace.layouts import set_layout


class Field(data.Struct):
    """Field of a message: its lowest ``width`` bits count, those above are 0."""

    data: FLIT_BITS
    width: FLIT_BITS.bit_length()
    last: 1


def encoder_members(params: SigraceParams) -> dict[str, wiring.Member]:
    """Members of an encoder of one form: sets in, fields out, of which ``last`` ends a set."""
    return {"i": In(stream.Signature(set_layout(params))), "o": Out(stream.Signature(Field))}


def put_field(m: Module, port, value, width, *, is_end=0, is_there=1) -> Value:
    """Offer a field at an output, if ``is_there``.

    Parameters
    ----------
    m : Module
        Module, in the state in which the field is offered.
    port : stream of Field
        Output.
    value, width : ValueLike
        Bits of the field, and their number.
    is_end : ValueLike
        Whether the field is the last one.
    is_there : ValueLike
        Whether there is a field in this cycle.

    Returns
    -------
    Value
        Whether the field is taken.
    """
    m.d.comb += [
        port.valid.eq(is_there),
        port.payload.data.eq(value),
        port.payload.width.eq(width),
        port.payload.last.eq(is_end),
    ]
    return port.valid & port.ready
