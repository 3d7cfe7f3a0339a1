"""Types of a source by their declarations: sizes and parts as the host's compiler has them."""

import subprocess

import pytest

from racetrap.sim.gpu.editing.declarations import source_of
from racetrap.sim.gpu.editing.type_names import Types

_SOURCE = """\
#include <stdint.h>
#define WIDTH 5
constexpr unsigned kRows = 2 * (WIDTH - 1);
enum Colour { RED = 3, BLUE };
enum class Small : unsigned char { A };
struct Pair { char first; double second; };
typedef struct { short a, b[3]; Pair pair; } Low;
using Alias = Low;
template <class T, int N> struct Ring { T slots[N]; unsigned head, tail; T *next; };
typedef Ring<short, RED + 1> Shorts;
struct Node {
  unsigned long long value;
  Node *next, *others[2];
  const char *const *names;
  struct { uint8_t low; int64_t high; } inner;
  Small small;
  Colour colour[WIDTH % 3 + 1];
  bool is_on() const { return small == Small::A; }
};
Pair pairs[kRows][WIDTH << 1];
Alias lows;
Shorts ring;
Ring<Pair, 7> rings[2];
volatile Node nodes[3];
long unsigned int word;
"""
#: Parts of variables, as C++ writes them.
_PARTS = [
    "pairs[7][9].second", "pairs[1][0].first", "lows.b[2]", "lows.pair.second", "ring.slots[3]",
    "ring.tail", "rings[1].slots[6].second", "rings[1].next", "nodes[2].value",
    "nodes[1].others[1]", "nodes[0].names", "nodes[2].inner.high", "nodes[2].small",
    "nodes[1].colour[2]",
]  # fmt: skip
_VARIABLES = ["pairs", "lows", "ring", "rings", "nodes", "word"]


def name_of(part):
    """The variable of a part."""
    return part.partition("[")[0].partition(".")[0]


def type_of(name, text=_SOURCE, arguments=None):
    source = source_of(text)
    (declaration,) = source.declarations(name)
    return Types([source], arguments or {}).of(*declaration)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Offset and bytes of each part, and bytes of each variable."""
    folder = tmp_path_factory.mktemp("layout")
    lines = [
        f'std::printf("%zu %zu\\n", (char *)&{part} - (char *)&{name_of(part)}, sizeof({part}));'
        for part in (*_PARTS, *_VARIABLES)
    ]
    source = "#include <cstdio>\n" + _SOURCE.replace("volatile ", "")
    (folder / "layout.cpp").write_text(f"{source}int main() {{\n" + "\n".join(lines) + "\n}\n")
    program = folder / "layout"
    subprocess.run(["g++", "-std=c++17", "-w", folder / "layout.cpp", "-o", program], check=True)
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    rows = [tuple(map(int, line.split())) for line in printed.splitlines()]
    return dict(zip((*_PARTS, *_VARIABLES), rows, strict=True))


def test_sizes_are_those_of_the_compiler(compiled):
    assert {name: type_of(name).size for name in _VARIABLES} == {
        name: compiled[name][1] for name in _VARIABLES
    }


@pytest.mark.parametrize("part", _PARTS)
def test_a_part_is_found_by_its_offset(compiled, part):
    name = name_of(part)
    offset, size = compiled[part]
    assert name + type_of(name).part(offset, size) == part


@pytest.mark.parametrize(
    ("declaration", "offset", "access_bytes", "part"),
    [
        ("int2 x[4];", 20, 4, "[2].y"),
        ("int2 x[4];", 16, 8, "[2]"),
        ("float4 x;", 8, 4, ".z"),
        ("short3 x[2];", 8, 2, "[1].y"),
        # Half of a word, and a byte between members.
        ("int x[4];", 6, 2, "[1] + 2"),
        ("struct { char a; int b; } x;", 2, 1, " + 2"),
        ("unsigned char x[8];", 4, 4, "[4]"),
        ("cuda::atomic<long, cuda::thread_scope_block> x[2];", 8, 8, "[1]"),
        ("__shared__ __align__(16) float x[2][N];", 16, 4, "[1][0]"),
        ("__shared__ T x[N];", 16, 8, "[2]"),
        ("extern __shared__ int x[];", 16, 4, "[4]"),
    ],
)
def test_parts(declaration, offset, access_bytes, part):
    found = type_of("x", declaration, {"N": "4", "T": "unsigned long"})
    assert found.part(offset, access_bytes) == part


@pytest.mark.parametrize(
    "declaration",
    [
        "Unknown x;", "int x[unknown];", "struct A { int a : 3; } x;", "struct A : B { int a; } x;",
        "struct A { virtual int f(); int a; } x;", "union { int a; float b; } x;",
        "template <typename T> using A = other::A<T>; A<int> x;",
        "struct A { A a; } x;", "int x[4 / 0];", "std::vector<int> x;", "long double x;",
    ],
)  # fmt: skip
def test_a_type_of_unknown_layout(declaration):
    assert type_of("x", declaration) is None
