"""Fields: the pieces of a Summary message, as encoders hand them to the bit packer."""

from amaranth.hdl import Module, Value
from amaranth.lib import data

from racetrap.golden_model.sigrace.params import FLIT_BITS

__all__ = ["Field", "put_field"]


class Field(data.Struct):
    """Field of a message: its lowest ``width`` bits count, those above are 0."""

    data: FLIT_BITS
    width: FLIT_BITS.bit_length()
    last: 1


def put_field(m: Module, port, value, width, *, is_end=0, is_there=1) -> Value:
    """Offer a field at an output, if ``is_there``.

    Parameters
    ----------
    m : Module
        Module, in the state in which the field is offered.
    port : stream of Field
        Output.
    value, width : ValueLike
        Bits of the field, and how many they are.
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
