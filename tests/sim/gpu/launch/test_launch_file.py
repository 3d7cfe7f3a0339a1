"""Launch files: what they may say, every rule broken once, and whether they fit a kernel."""

import numpy as np
import pytest

from racetrap.golden_model.events import Geometry
from racetrap.sim.gpu.launch.launch_arguments import (
    ELEMENT_TYPES,
    BufferArgument,
    ScalarArgument,
    StructArgument,
)
from racetrap.sim.gpu.launch.launch_file import fitting_kernel, read_launch
from racetrap.sim.gpu.ptx.parser import parse_ptx
from racetrap.sim.toml_file import TomlError
from tests.support.gpu.ptx_text import kernel_text

_BUFFER = {"buffer": "zeros", "type": "u32", "count": 4}
_SCALAR = {"value": 5, "type": "s32"}


def _buffer(contents, kind, count):
    return BufferArgument(buffer=contents, type=kind, count=count)


def _scalar(kind, value):
    return ScalarArgument(type=kind, value=value)


def _toml(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k} = {_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)


@pytest.fixture
def write(tmp_path):
    """Writes a launch file: the shortest that is good, with changes; ``None`` takes a key out."""

    def _write(**changes):
        data = {"kernel": "k", "grid": 2, "block": 64, "arguments": []} | changes
        lines = [f"{key} = {_toml(value)}\n" for key, value in data.items() if value is not None]
        path = tmp_path / "launch.toml"
        path.write_text("".join(lines))
        return path

    return _write


def test_defaults(write):
    launch = read_launch(write())
    assert (launch.kernel, launch.grid, launch.block) == ("k", (2, 1, 1), (64, 1, 1))
    assert launch.arguments == []
    assert launch.geometry == Geometry(15, 8, 32)
    assert (launch.dynamic_shared, launch.scheduler, launch.seed) == (0, "round-robin", 1)
    assert launch.independent_threads is None


def test_everything_said(tmp_path):
    np.save(tmp_path / "in.npy", np.arange(6, dtype=np.float32).reshape(2, 3))
    (tmp_path / "launch.toml").write_text("""
        kernel = "k"
        grid = [4, 3, 2]
        block = [8, 4]
        dynamic_shared = 1024
        scheduler = "random"
        seed = 7
        stall_limit = 1000
        independent_threads = true
        [gpu]
        sm_count = 2
        blocks_per_sm = 4
        warps_per_sm = 8
        [[arguments]]
        buffer = "in.npy"
        [[arguments]]
        buffer = "random"
        type = "s64"
        count = 3
        [[arguments]]
        type = "f32"
        value = 1
    """)
    launch = read_launch(tmp_path / "launch.toml")
    assert (launch.grid, launch.block) == ((4, 3, 2), (8, 4, 1))
    assert launch.geometry == Geometry(2, 4, 8)
    assert (launch.dynamic_shared, launch.scheduler, launch.seed) == (1024, "random", 7)
    assert (launch.independent_threads, launch.stall_limit) == (True, 1000)
    assert [argument.model_dump(exclude_unset=True) for argument in launch.arguments] == [
        {"buffer": tmp_path / "in.npy", "type": "f32", "count": 6},
        {"buffer": "random", "type": "s64", "count": 3},
        {"type": "f32", "value": 1.0},
    ]
    made = launch.arguments[0].make(np.random.default_rng(1))
    assert (made.dtype, made.tolist()) == (np.float32, [0, 1, 2, 3, 4, 5])


@pytest.mark.parametrize("kind", ELEMENT_TYPES)
@pytest.mark.parametrize("contents", ["zeros", "arange", "random"])
def test_contents(kind, contents):
    argument = _buffer(contents, kind, 100)
    made, again = (argument.make(np.random.default_rng(3)) for _ in range(2))
    assert (made.dtype, made.shape) == (ELEMENT_TYPES[kind], (100,))
    assert (made == again).all()
    if contents == "zeros":
        assert not made.any()
    elif contents == "arange":
        assert made.tolist() == list(range(100))
    elif kind[0] == "f":
        assert 0 <= made.min() < 0.2 < 0.8 < made.max() < 1
    else:  # both ends of the range are come near to
        low, high = np.iinfo(made.dtype).min, np.iinfo(made.dtype).max
        tenth = high // 10 - low // 10
        assert made.min() < low + tenth
        assert made.max() > high - tenth


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        (_scalar("s32", -1), 0xFFFFFFFF),
        (_scalar("u64", 5), 5),
        (_scalar("f32", -1.5), -1.5),
    ],
)
def test_values_given_to_the_kernel(argument, value):
    assert argument.bits() == value


_DIMENSIONS = "from 1 to 2147483647, 65535, 65535"


@pytest.mark.parametrize(
    ("changes", "key", "rule", "value"),
    [
        ({"hue": 1}, "Key", "one of kernel, grid, block, arguments, dynamic_shared, ", "hue"),
        ({"kernel": None}, "kernel", "given", "missing"),
        ({"kernel": 5}, "kernel", "string", 5),
        ({"kernel": ""}, "kernel", "a name", "''"),
        ({"grid": None}, "grid", "given", "missing"),
        ({"grid": 0}, "grid", _DIMENSIONS, 0),
        ({"grid": [1, 65536]}, "grid", _DIMENSIONS, [1, 65536]),
        ({"grid": [1, 1, 1, 1]}, "grid", "up to three", [1, 1, 1, 1]),
        ({"grid": []}, "grid", _DIMENSIONS, []),
        ({"grid": 1.5}, "grid", _DIMENSIONS, 1.5),
        ({"grid": True}, "grid", _DIMENSIONS, True),
        ({"block": None}, "block", "given", "missing"),
        ({"block": [1, 1, 65]}, "block", "from 1 to 1024, 1024, 64", [1, 1, 65]),
        ({"block": [33, 32]}, "block", "at most 1024 threads", 1056),
        ({"block": 96, "gpu": {"warps_per_sm": 2}}, "block", "at most 64 threads", 96),
        ({"dynamic_shared": -1}, "dynamic_shared", "0", -1),
        ({"dynamic_shared": 232449}, "dynamic_shared", "232448", 232449),
        ({"scheduler": "fifo"}, "scheduler", "one of in-order, newest-first, round", "'fifo'"),
        ({"seed": -1}, "seed", "0", -1),
        ({"seed": 2**64}, "seed", "18446744073709551616", 2**64),
        ({"seed": "x"}, "seed", "integer", "'x'"),
        ({"stall_limit": 0}, "stall_limit", "1", 0),
        ({"instruction_limit": 0}, "instruction_limit", "1", 0),
        ({"event_limit": 0}, "event_limit", "1", 0),
        ({"stall_limit": 2**63}, "stall_limit", "9223372036854775808", 2**63),
        ({"independent_threads": 1}, "independent_threads", "boolean", 1),
        ({"gpu": 3}, "gpu", "a table", 3),
        ({"gpu": {"cores": 3}}, "Key of gpu", "one of sm_count, blocks_per_sm, warps_per", "cores"),
        ({"gpu": {"sm_count": 0}}, "gpu.sm_count", "1", 0),
        ({"gpu": {"sm_count": 1025}}, "gpu.sm_count", "1024", 1025),
        ({"gpu": {"blocks_per_sm": 65}}, "gpu.blocks_per_sm", "64", 65),
        ({"gpu": {"warps_per_sm": 65}}, "gpu.warps_per_sm", "64", 65),
        ({"gpu": {"warps_per_sm": "8"}}, "gpu.warps_per_sm", "integer", "'8'"),
        ({"arguments": None}, "arguments", "given", "missing"),
        ({"arguments": 5}, "arguments", "list", 5),
        ({"arguments": [5]}, "arguments[0]", "a table", 5),
        ({"arguments": [{"type": "u32"}]}, "arguments[0]", "buffer or value", {"type": "u32"}),
    ],
)  # fmt: skip
def test_broken_rules(write, changes, key, rule, value):
    path = write(**changes)
    with pytest.raises(TomlError) as caught:
        read_launch(path)
    _check_error(caught, path, key, rule, value)


def _check_error(caught, path, key, rule, value):
    sentence = str(caught.value)
    assert sentence.startswith(f"{path}: {key} must be ")
    assert rule in sentence.rpartition(", not ")[0]
    assert sentence.endswith(f", not {value}")


_TYPES = "one of u8, u16, u32, u64, s8, s16, s32, s64, f32, f64"


@pytest.mark.parametrize(
    ("entry", "key", "rule", "value"),
    [
        (_BUFFER | {"value": 1}, "Key of {}", "one of buffer, type, count", "value"),
        (_SCALAR | {"count": 1}, "Key of {}", "one of type, value", "count"),
        (_BUFFER | {"buffer": "ones"}, "{}.buffer", "one of zeros, arange, random,", "'ones'"),
        (_BUFFER | {"buffer": 1}, "{}.buffer", "a file ending in .npy", 1),
        (_BUFFER | {"type": "int"}, "{}.type", _TYPES, "'int'"),
        ({"buffer": "zeros", "count": 1}, "{}.type", "given", "missing"),
        (_BUFFER | {"count": 0}, "{}.count", "1", 0),
        (_BUFFER | {"count": 2**30 + 1}, "{}.count", "1073741824", 2**30 + 1),
        (_BUFFER | {"count": "4"}, "{}.count", "integer", "'4'"),
        ({"buffer": "zeros", "type": "u8"}, "{}.count", "given", "missing"),
        (_SCALAR | {"type": 32}, "{}.type", "string", 32),
        (_SCALAR | {"type": "f16"}, "{}.type", _TYPES, "'f16'"),
        ({"value": 3}, "{}.type", "given", "missing"),
        ({"value": 256, "type": "u8"}, "{}.value", "from 0 to 255 for type u8", 256),
        ({"value": 1.5, "type": "s32"}, "{}.value", "from -2147483648 to 2147483647", 1.5),
        ({"value": True, "type": "s32"}, "{}.value", "a whole number", True),
        ({"value": True, "type": "f32"}, "{}.value", "a number of type f32", True),
        ({"value": "x", "type": "f32"}, "{}.value", "a number of type f32", "'x'"),
        ({"value": 1e39, "type": "f32"}, "{}.value", "a number of type f32", 1e39),
        ({"buffer": "no.npy"}, "{}.buffer", "an array file that can be read", "'no.npy'"),
        ({"buffer": "text.npy"}, "{}.buffer", "an array file that can be read", "'text.npy'"),
        ({"buffer": "empty.npy"}, "{}.buffer", "an array with elements", "'empty.npy'"),
        ({"buffer": "complex.npy"}, "{}.buffer", "an array of u8, u16, u32, u64, s", "'complex64'"),
        ({"buffer": "f.npy", "type": "u32"}, "{}.type", "the f32 of the array file", "'u32'"),
        ({"buffer": "f.npy", "count": 4}, "{}.count", "the 3 of the array file", 4),
        ({"buffer": "f.npy", "value": 4}, "Key of {}", "one of buffer, type, count", "value"),
    ],
)  # fmt: skip
def test_broken_rules_of_arguments(write, tmp_path, entry, key, rule, value):
    (tmp_path / "text.npy").write_text("not an array")
    np.save(tmp_path / "empty.npy", np.zeros(0, np.float32))
    np.save(tmp_path / "complex.npy", np.zeros(3, np.complex64))
    np.save(tmp_path / "f.npy", np.zeros(3, np.float32))
    path = write(arguments=[_SCALAR, entry])
    with pytest.raises(TomlError) as caught:
        read_launch(path)
    _check_error(caught, path, key.format("arguments[1]"), rule, value)


@pytest.mark.parametrize("content", [b"kernel = ", b"\xff", b"kernel = 'k'\nkernel = 'l'\n"])
def test_not_toml(tmp_path, content):
    path = tmp_path / "launch.toml"
    path.write_bytes(content)
    with pytest.raises(TomlError, match="not TOML"):
        read_launch(path)


# Launch and kernel together

_PARAMETERS = ".param .u64 p, .param .u32 n, .param .f32 x, .param .align 4 .b8 s[12]"
_GOOD = [_BUFFER, _SCALAR, {"value": 0.5, "type": "f32"}]


def _check(path, parameters=".param .u64 p, .param .u32 n, .param .f32 x", name="k", more=""):
    text = kernel_text("ret;", more, name, parameters)
    return fitting_kernel(read_launch(path), parse_ptx(text, "k.ptx"))


def test_fits(write):
    assert _check(write(arguments=_GOOD)).name == "k"


@pytest.mark.parametrize("name", ["_Z1kPij", "_Z1kILi3EEvPij"])
def test_name_in_cpp(write, name):
    """The name before the compiler mangled it will do, if no other kernel has it."""
    assert _check(write(arguments=_GOOD), name=name).name == name
    assert _check(write(arguments=_GOOD, kernel=name), name=name).name == name


def test_name_of_two_kernels(write):
    with pytest.raises(TomlError, match="kernel must be one of _Z1kf, _Z1kPij, not k"):
        _check(write(arguments=_GOOD), name="_Z1kPij", more=".entry _Z1kf() { ret; }")


@pytest.mark.parametrize("wanted", ["k<3>", "k"])
def test_name_of_a_template(write, wanted):
    """A kernel that is no template comes before a template of its name."""
    plain = ".entry _Z1kPij(.param .u64 p, .param .u32 n, .param .f32 x) { ret; }"
    launch, name = write(arguments=_GOOD, kernel=wanted), "_Z1kILi3EEvPij"
    assert _check(launch, name=name).name == name
    found = _check(launch, name=name, more=plain).name
    assert found == (name if wanted == "k<3>" else "_Z1kPij")


def test_names_of_templates(write):
    launch, name = write(arguments=_GOOD, kernel="k"), "_Z1kILi3EEvPij"
    with pytest.raises(TomlError, match="kernel must be one of k<4>, k<3>, not k"):
        _check(launch, name=name, more=".entry _Z1kILi4EEvPij() { ret; }")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"kernel": "other"}, "kernel must be one of k, not other"),
        ({"arguments": _GOOD[:2]}, "arguments must be as many as the 3 parameters of k, not 2"),
        ({"arguments": [_SCALAR, *_GOOD[1:]]}, "arguments[0].type must be of the kind of parameter"
                                               " .u64, not s32"),
        ({"arguments": [_BUFFER, _BUFFER, _GOOD[2]]}, "arguments[1].buffer must be a value for par"
                                                      "ameter .u32, not zeros"),
        ({"arguments": [*_GOOD[:2], _SCALAR]}, "arguments[2].type must be of the kind of parameter"
                                               " .f32, not s32"),
        ({"arguments": [_BUFFER, {"value": 1, "type": "u64"}, _GOOD[2]]}, "arguments[1].type must "
                                                                          "be of the kind of"),
    ],
)  # fmt: skip
def test_does_not_fit(write, changes, sentence):
    path = write(**{"arguments": _GOOD} | changes)
    with pytest.raises(TomlError) as caught:
        _check(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert sentence in str(caught.value)


def test_structure_as_parameter(write):
    with pytest.raises(TomlError, match=r"arguments\[3\].type must be of the kind of .*b8\[12\]"):
        _check(write(arguments=[*_GOOD, _SCALAR]), _PARAMETERS)


def test_more_threads_than_the_kernel_allows(write):
    text = kernel_text("ret;").replace("k()", "k() .maxntid 32, 1, 1")
    module = parse_ptx(text, "k.ptx")
    with pytest.raises(TomlError, match="block must be at most the 32 threads that the kernel a"):
        fitting_kernel(read_launch(write(block=33)), module)
    assert fitting_kernel(read_launch(write(block=32)), module).max_threads == 32


# Several launches, named buffers, pointers, structures, expected contents

_NAMED = {"name": "a", **_BUFFER}
_POINTER = {"pointer": "a", "offset": 8}
_NEXT = {"kernel": "k", "grid": 1, "block": 32, "arguments": [_POINTER]}


def test_launches_after_the_first(write):
    launch = read_launch(write(buffers=[_NAMED], next=[_NEXT, _NEXT], schedules=4))
    assert [place for place, _ in launch.launches] == ["", "next[0].", "next[1]."]
    assert (launch.next[1].block, launch.next[1].arguments[0].offset) == ((32, 1, 1), 8)
    assert (launch.buffers[0].name, launch.buffers[0].size, launch.schedules) == ("a", 16, 4)


def test_members_lie_as_in_cpp():
    members = [("u8", 1), ("s32", -2), ("f64", 0.5), ("u16", 3)]
    table = {"members": [{"type": kind, "value": value} for kind, value in members]}
    structure = StructArgument.model_validate(table)
    assert structure.layout == ([0, 4, 8, 16], 24)
    packed = np.frombuffer(structure.pack(lambda pointer: 0), np.uint8)
    wanted = np.array([(1, -2, 0.5, 3)], np.dtype("u1, i4, f8, u2", align=True))
    assert [packed[o : o + n].tobytes() for o, n in ((0, 1), (4, 4), (8, 8), (16, 2))] == [
        wanted[name].tobytes() for name in wanted.dtype.names
    ]
    assert wanted.itemsize == 24


def test_address_in_a_structure():
    table = {"members": [{"type": "u8", "value": 1}, _POINTER]}
    packed = StructArgument.model_validate(table).pack(lambda pointer: 0x1000 + pointer.offset)
    assert packed == bytes([1, 0, 0, 0, 0, 0, 0, 0, 8, 0x10, 0, 0, 0, 0, 0, 0])


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"arguments": [_POINTER]}, "arguments[0].pointer must be the name of a buffer (none)"),
        ({"next": [_NEXT]}, "next[0].arguments[0].pointer must be the name of a buffer (none)"),
        ({"buffers": [_NAMED, _NAMED]}, "buffers[1].name must be the name of one buffer alone"),
        ({"buffers": [_BUFFER]}, "buffers[0].name must be given, not missing"),
        ({"buffers": [_NAMED | {"name": ""}]}, "buffers[0].name"),
        ({"buffers": [_NAMED], "arguments": [_POINTER | {"offset": 17}]},
         "arguments[0].offset must be at most the 16 bytes of the buffer, not 17"),
        ({"buffers": [_NAMED], "arguments": [{"members": [_POINTER | {"pointer": "b"}]}]},
         "arguments[0].members[0].pointer must be the name of a buffer (a), not"),
        ({"arguments": [{"members": [_BUFFER]}]}, "Key of arguments[0].members[0] must be one of"),
        ({"next": [_NEXT | {"block": 1024}], "buffers": [_NAMED], "gpu": {"warps_per_sm": 8}},
         "next[0].block must be at most 256 threads in all, not 1024"),
        ({"schedules": 0}, "schedules must be "),
        ({"buffers": [_NAMED | {"guard": -1}]}, "buffers[0].guard must be "),
        ({"buffers": [_NAMED | {"expected": [1, 2, 3]}]},
         "buffers[0].expected must be 4 numbers of type u32, or a file ending in .npy with them"),
        ({"buffers": [_NAMED | {"expected": [1, 2, 3, -1]}]}, "buffers[0].expected must be 4 num"),
        ({"buffers": [_NAMED | {"expected": [1, 2, 3, 0.5]}]}, "buffers[0].expected must be 4 num"),
        ({"buffers": [_NAMED | {"expected": "gone.npy"}]}, "buffers[0].expected must be 4 num"),
    ],
)  # fmt: skip
def test_rules_of_several_launches(write, changes, sentence):
    path = write(**changes)
    with pytest.raises(TomlError) as caught:
        read_launch(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("type", "contents", "expected", "difference"),
    [
        ("u32", [1, 2, 3, 4], [1, 2, 3, 4], ""),
        ("u32", [1, 9, 3, 9], [1, 2, 3, 4], "2 at element 1, not 9 (2 differ)"),
        ("f32", [1, 2, 3, 4], [1, 2.25, 3, 4], ""),
        ("f32", [1, 2, 3, 4], [1, 2.5, 3, 4], "2.5 at element 1, not 2.0 (1 differ)"),
        ("f32", [1, float("nan"), 3, 4], [1, 2, 3, 4], "2.0 at element 1, not nan (1 differ)"),
    ],
)
def test_expected_contents(write, tmp_path, type, contents, expected, difference):
    kind, found = ELEMENT_TYPES[type], np.array(contents, ELEMENT_TYPES[type])
    np.save(tmp_path / "wanted.npy", np.array(expected, kind))
    for wanted in (expected, "wanted.npy"):
        table = _NAMED | {"type": type, "expected": wanted, "tolerance": 0.25}
        (buffer,) = read_launch(write(buffers=[table])).buffers
        assert buffer.difference(found) == difference


def test_structure_that_fits(write):
    members = {"members": [{"type": "u32", "value": 1}] * 3}
    assert _check(write(arguments=[*_GOOD, members]), _PARAMETERS).name == "k"
    short = {"members": members["members"][:2]}
    with pytest.raises(TomlError, match=r"arguments\[3\].members must be .*b8\[12\], not 8 bytes"):
        _check(write(arguments=[*_GOOD, short]), _PARAMETERS)


def test_pointer_that_does_not_fit(write):
    path = write(buffers=[_NAMED], arguments=[_BUFFER, _POINTER, _GOOD[2]])
    with pytest.raises(TomlError, match=r"arguments\[1\].pointer must be a value for .*u32, not a"):
        _check(path)
