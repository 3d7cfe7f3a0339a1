"""Arrays of a chip: modules of one family, each of SRAM macros or of flip-flops."""

from __future__ import annotations

from amaranth.hdl import Array, ClockSignal, Instance, Module, Shape, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

#: Module of an SRAM macro, of which :data:`MACRO_VERILOG` is a model: a team binds its own instead.
MACRO = "racetrap_ram"

#: The macro's model: in simulation words are random at first, and what is read at the clock edge of
#: a write to the same word is wrong.
MACRO_VERILOG = """\
// SRAM macro with one write port and one read port, and its model.  Define RACETRAP_RAM and give a
// module of this name to bind another.
`ifndef RACETRAP_RAM
`define RACETRAP_RAM
module racetrap_ram #(
  parameter WIDTH = 1,
  parameter DEPTH = 2,
  parameter ADDRESS_BITS = 1
) (
  input clk,
  input write_enable,
  input [ADDRESS_BITS-1:0] write_address,
  input [WIDTH-1:0] write_data,
  input read_enable,
  input [ADDRESS_BITS-1:0] read_address,
  output reg [WIDTH-1:0] read_data
);
  (* ram_style = "block", no_rw_check *)
  reg [WIDTH-1:0] words [0:DEPTH-1];
  always @(posedge clk)
    if (write_enable) words[write_address] <= write_data;
`ifdef SYNTHESIS
  always @(posedge clk)
    if (read_enable) read_data <= words[read_address];
`else
  localparam CHUNKS = (WIDTH + 31) / 32;
  reg [32*CHUNKS-1:0] first;
  integer number;
  initial
    for (number = 0; number < DEPTH; number = number + 1) begin
      first = {CHUNKS{$urandom}};
      words[number] = first[WIDTH-1:0];
    end
  always @(posedge clk)
    if (read_enable)
      read_data <= words[read_address]
        ^ {WIDTH{write_enable && write_address == read_address}};
`endif
endmodule
`endif
"""


class Ram(wiring.Component):
    """An array of words with one write port, of macros or of flip-flops.

    A read port answers in the next cycle, and then holds its answer until it is enabled again; an
    asynchronous one answers in the same cycle.  A write takes one cycle.  A synchronous read in the
    cycle of a write to its word gives anything, as does a word that has not been written.

    An array of ``macro_words`` words or more is one macro for each read port, all written together,
    if its reads are synchronous and its words are written whole.  Any other array is in flip-flops,
    which ``rst`` sets to 0.

    Parameters
    ----------
    width, depth : int
        Bits of a word, and words.
    reads : int
        Read ports.
    is_asynchronous : bool
        Whether they answer in the same cycle.
    parts : int
        Equal parts of a word that are written apart.
    macro_words : int
        Words from which an array is in macros.

    Members
    -------
    write : ``In``
        ``addr``, ``data``, and ``en`` with a bit for each part.
    read : ``In``, an array of ``reads``
        ``addr``, ``en`` unless it is asynchronous, and ``data``.
    """

    def __init__(
        self, width: int, depth: int, reads: int, *, is_asynchronous: bool = False, parts: int = 1,
        macro_words: int,
    ):  # fmt: skip
        self._width, self._depth = width, depth
        self.is_asynchronous, self._macro_words = is_asynchronous, macro_words
        address = ceil_log2(depth)
        read = {"addr": Out(address), "data": In(width)}
        if not is_asynchronous:
            read["en"] = Out(1)
        super().__init__({
            "write": In(wiring.Signature({
                "addr": Out(address), "data": Out(width), "en": Out(parts),
            })),
            "read": In(wiring.Signature(read)).array(reads),
        })  # fmt: skip

    @property
    def module_name(self) -> str:
        """Name in the family: width, depth and ports."""
        parts = len(self.write.en)
        words = f"{self._width}x{self._depth}" + (f"_in{parts}" if parts > 1 else "")
        reads = f"{len(self.read)}{'a' if self.is_asynchronous else 'r'}1w"
        return f"ram_{words}_{reads}"

    @property
    def is_macro(self) -> bool:
        """Whether it is made of macros."""
        is_large = self._depth >= max(self._macro_words, 2)
        return is_large and not self.is_asynchronous and len(self.write.en) == 1

    def elaborate(self, platform):
        return self._macros() if self.is_macro else self._flip_flops()

    def _macros(self) -> Module:
        m = Module()
        for number, read in enumerate(self.read):
            m.submodules[f"macro_{number}"] = Instance(
                MACRO,
                p_WIDTH=self._width, p_DEPTH=self._depth, p_ADDRESS_BITS=ceil_log2(self._depth),
                i_clk=ClockSignal(),
                i_write_enable=self.write.en,
                i_write_address=self.write.addr,
                i_write_data=self.write.data,
                i_read_enable=read.en,
                i_read_address=read.addr,
                o_read_data=read.data,
            )  # fmt: skip
        return m

    def _flip_flops(self) -> Module:
        m = Module()
        words = [Signal(self._width, name=f"word_{number}") for number in range(self._depth)]
        bits = self._width // len(self.write.en)
        for part, is_written in enumerate(self.write.en):
            low = slice(part * bits, (part + 1) * bits)
            with m.If(is_written), m.Switch(self.write.addr):
                for number, word in enumerate(words):
                    with m.Case(number):
                        m.d.sync += word[low].eq(self.write.data[low])
        for read in self.read:
            answer = Array(words)[read.addr]
            if self.is_asynchronous:
                m.d.comb += read.data.eq(answer)
            else:
                with m.If(read.en):
                    m.d.sync += read.data.eq(answer)
        return m


def ram_of(memory: Memory, macro_words: int) -> tuple[Ram, dict[str, Value]]:
    """The module for one of Amaranth's memories, and what its ports are connected to, by name.

    Raises
    ------
    ValueError
        If a memory is not of the family: it has contents, several write ports, read ports of both
        kinds, or one that sees a write in its cycle.
    """
    reads = memory.read_ports
    kinds = {port.domain for port in reads}
    rules = {
        "initial contents": any(memory.init._raw),
        "write ports": len(memory.write_ports) != 1,
        "kinds of read ports": len(kinds) != 1,
        "transparent read ports": any(port.transparent_for for port in reads),
    }
    for what, is_broken in rules.items():
        if is_broken:
            raise ValueError(
                f"Memory must have one write port, read ports of one kind that are not transparent "
                f"and no contents: this one, of {memory.depth} words, differs in its {what}"
            )
    write, is_asynchronous = memory.write_ports[0], kinds == {"comb"}
    ram = Ram(
        Shape.cast(memory.shape).width, memory.depth, len(reads),
        is_asynchronous=is_asynchronous, parts=len(write.en),
        macro_words=macro_words,
    )  # fmt: skip
    ports = {"write": write, **{f"read__{number}": port for number, port in enumerate(reads)}}
    names = ("addr", "data", "en")
    return ram, {
        f"{prefix}__{name}": Value.cast(getattr(port, name))
        for prefix, port in ports.items()
        for name in names
        if not (name == "en" and prefix != "write" and is_asynchronous)
    }
