"""Classic shapes of two threads as kernels: what each has read is in its words of a buffer."""

from racetrap.sim.gpu.launch.launch_file import read_launch
from racetrap.sim.gpu.ptx.parser import parse_ptx
from racetrap.sim.gpu.stress.kernel_subject import KernelSubject

#: Addresses of the two words, and of what is read.
X, Y, RESULTS = "[%rd1]", "[%rd1+128]", ("[%rd2]", "[%rd2+4]")
#: Of threads in two blocks, warps or lanes: register, grid, block, further keys.
_PLACES = {
    "block": ("%ctaid.x", 2, 1, ""),
    "warp": ("%tid.y", 1, "[32, 2]", ""),
    "block of two warps": ("%ctaid.x", 2, "[32, 2]", ""),
    "lane": ("%tid.x", 1, 2, "independent_threads = true\n"),
}


def litmus_subject(folder, first, second, place="block", space="global"):
    """Subject of two threads, each a list of instructions without their state space: ``ld`` and
    ``st`` of X and Y are of that of the argument, those of RESULTS of global memory."""
    number, grid, block, more = _PLACES[place]
    bodies = [
        "\n".join(f"  {_spaced(line, space)};" for line in lines) for lines in (first, second)
    ]
    base = "mov.u64 %rd1, s;" if space == "shared" else ""
    text = f"""
.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q) {{
  .reg .pred %p<4>; .reg .b32 %r<10>; .reg .b64 %rd<4>;
  .shared .align 4 .b8 s[256];
  ld.param.u64 %rd1, [p];
  ld.param.u64 %rd2, [q];
  {base}
  mov.u32 %r1, {number};
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra OTHER;
{bodies[0]}
  ret;
OTHER:
{bodies[1]}
  ret;
}}"""
    file = folder / "launch.toml"
    file.write_text(
        f'kernel = "k"\ngrid = {grid}\nblock = {block}\n{more}'
        'arguments = [{ buffer = "zeros", type = "u32", count = 64 },\n'
        '{ buffer = "zeros", type = "u32", count = 2 }]\n'
    )
    return KernelSubject(parse_ptx(text, "k.ptx"), read_launch(file))


def _spaced(line, space):
    """An access with its state space, before its type."""
    words = line.split()
    if words[0].partition(".")[0] not in ("ld", "st"):
        return line
    where = "global" if any(result in line for result in RESULTS) else space
    return " ".join([f"{words[0]}.{where}.u32", *words[1:]])
