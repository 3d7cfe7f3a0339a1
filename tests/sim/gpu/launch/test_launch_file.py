"""Launch files: what they may say, every rule broken once, and whether they fit a kernel."""

import numpy as np
import pytest

from racetrap.golden_model.events import Geometry
from racetrap.sim.gpu.launch.launch_arguments import ELEMENT_TYPES, BufferArgument, ScalarArgument
from racetrap.sim.gpu.launch.launch_file import LaunchError, check_launch, read_launch
from racetrap.sim.gpu.ptx.parser import parse_ptx
from tests.support.gpu.ptx_text import kernel_text

_BUFFER = {"buffer": "zeros", "type": "u32", "count": 4}
_SCALAR = {"value": 5, "type": "s32"}


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
    assert launch.arguments == ()
    assert launch.geometry == Geometry(15, 8, 32)
    assert (launch.dynamic_shared, launch.scheduler, launch.seed) == (0, "round-robin", 1)
    assert launch.independent_threads is False


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
    assert launch.arguments == (
        BufferArgument(tmp_path / "in.npy", "f32", 6),
        BufferArgument("random", "s64", 3),
        ScalarArgument("f32", 1.0),
    )
    made = launch.arguments[0].make(np.random.default_rng(1))
    assert (made.dtype, made.tolist()) == (np.float32, [0, 1, 2, 3, 4, 5])


@pytest.mark.parametrize("kind", ELEMENT_TYPES)
@pytest.mark.parametrize("contents", ["zeros", "arange", "random"])
def test_contents(kind, contents):
    argument = BufferArgument(contents, kind, 100)
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
        (ScalarArgument("s32", -1), 0xFFFFFFFF),
        (ScalarArgument("u64", 5), 5),
        (ScalarArgument("f32", -1.5), -1.5),
    ],
)
def test_values_given_to_the_kernel(argument, value):
    assert argument.bits() == value


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"hue": 1}, "Key must be one of kernel, grid, block, arguments, dynamic_shared, gpu, "),
        ({"kernel": None}, "kernel must be a name, not missing"),
        ({"kernel": 5}, "kernel must be a name, not 5"),
        ({"kernel": ""}, "kernel must be a name, not ''"),
        ({"grid": None}, "grid must be a number or up to three, from 1 to 2147483647, 65535, "),
        ({"grid": 0}, "grid must be a number or up to three, from 1 to 2147483647, 65535, 65535"),
        ({"grid": [1, 65536]}, ", not [1, 65536]"),
        ({"grid": [1, 1, 1, 1]}, ", not [1, 1, 1, 1]"),
        ({"grid": []}, ", not []"),
        ({"grid": 1.5}, ", not 1.5"),
        ({"grid": True}, ", not True"),
        ({"block": None}, "block must be a number or up to three, from 1 to 1024, 1024, 64, not m"),
        ({"block": [1, 1, 65]}, ", not [1, 1, 65]"),
        ({"block": [33, 32]}, "block must be at most 1024 threads in all, not 1056"),
        ({"block": 96, "gpu": {"warps_per_sm": 2}}, "block must be at most 64 threads in all, not"),
        ({"dynamic_shared": -1}, "dynamic_shared must be from 0 to 232448, not -1"),
        ({"scheduler": "fifo"}, "scheduler must be one of in-order, round-robin, greedy-then-olde"),
        ({"seed": -1}, "seed must be from 0 to 18446744073709551615, not -1"),
        ({"seed": "x"}, "seed must be from 0 to 18446744073709551615, not 'x'"),
        ({"stall_limit": 0}, "stall_limit must be from 1 to 9223372036854775807, not 0"),
        ({"independent_threads": 1}, "independent_threads must be true or false, not 1"),
        ({"gpu": 3}, "gpu must be a table [gpu], not 3"),
        ({"gpu": {"cores": 3}}, "Key of gpu must be one of sm_count, blocks_per_sm, warps_per_sm"),
        ({"gpu": {"sm_count": 0}}, "gpu.sm_count must be from 1 to 1024, not 0"),
        ({"gpu": {"blocks_per_sm": 65}}, "gpu.blocks_per_sm must be from 1 to 64, not 65"),
        ({"gpu": {"warps_per_sm": "8"}}, "gpu.warps_per_sm must be from 1 to 64, not '8'"),
        ({"arguments": None}, "arguments must be a list of tables [[arguments]], not missing"),
        ({"arguments": 5}, "arguments must be a list of tables [[arguments]], not 5"),
        ({"arguments": [5]}, "arguments must be a list of tables [[arguments]], not [5]"),
        ({"arguments": [{"type": "u32"}]}, "arguments[0].buffer or value must be given, not miss"),
    ],
)  # fmt: skip
def test_broken_rules(write, changes, sentence):
    path = write(**changes)
    with pytest.raises(LaunchError) as caught:
        read_launch(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        (_BUFFER | {"value": 1}, "Key of arguments[1] must be one of buffer, type, count, not val"),
        (_SCALAR | {"count": 1}, "Key of arguments[1] must be one of value, type, not count"),
        (_BUFFER | {"buffer": "ones"}, "arguments[1].buffer must be one of zeros, arange, random,"),
        (_BUFFER | {"buffer": 1}, "arguments[1].buffer must be one of zeros, arange, random, or a"),
        (_BUFFER | {"type": "int"}, "arguments[1].type must be one of u8, u16, u32, u64, s8, s16,"),
        ({"buffer": "zeros", "count": 1}, "arguments[1].type must be one of u8, u16, u32, u64, "),
        (_BUFFER | {"count": 0}, "arguments[1].count must be from 1 to 1073741824, not 0"),
        ({"buffer": "zeros", "type": "u8"}, "arguments[1].count must be from 1 to 4294967296, not"),
        (_SCALAR | {"type": 32}, "arguments[1].type must be one of"),
        ({"value": 3}, "arguments[1].type must be one of"),
        ({"value": 256, "type": "u8"}, "arguments[1].value must be a whole number from 0 to 255 f"),
        ({"value": 1.5, "type": "s32"}, "arguments[1].value must be a whole number from -21474836"),
        ({"value": "x", "type": "f32"}, "arguments[1].value must be a number of type f32, not 'x'"),
        ({"value": 1e39, "type": "f32"}, "arguments[1].value must be a number of type f32, not 1e"),
        ({"buffer": "no.npy"}, "arguments[1].buffer must be an array file that can be read, not "),
        ({"buffer": "text.npy"}, "arguments[1].buffer must be an array file that can be read, no"),
        ({"buffer": "empty.npy"}, "arguments[1].buffer must be an array with elements, not 'empty"),
        ({"buffer": "complex.npy"}, "arguments[1].buffer must be an array of u8, u16, u32, u64, s"),
        ({"buffer": "f.npy", "type": "u32"}, "arguments[1].type must be the f32 of the array file"),
        ({"buffer": "f.npy", "count": 4}, "arguments[1].count must be the 3 of the array file, no"),
    ],
)  # fmt: skip
def test_broken_rules_of_arguments(write, tmp_path, entry, sentence):
    (tmp_path / "text.npy").write_text("not an array")
    np.save(tmp_path / "empty.npy", np.zeros(0, np.float32))
    np.save(tmp_path / "complex.npy", np.zeros(3, np.complex64))
    np.save(tmp_path / "f.npy", np.zeros(3, np.float32))
    path = write(arguments=[_SCALAR, entry])
    with pytest.raises(LaunchError) as caught:
        read_launch(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert sentence in str(caught.value)


@pytest.mark.parametrize("content", [b"kernel = ", b"\xff", b"kernel = 'k'\nkernel = 'l'\n"])
def test_not_toml(tmp_path, content):
    path = tmp_path / "launch.toml"
    path.write_bytes(content)
    with pytest.raises(LaunchError, match="Launch file must be TOML: "):
        read_launch(path)


# Launch and kernel together

_PARAMETERS = ".param .u64 p, .param .u32 n, .param .f32 x, .param .align 4 .b8 s[12]"
_GOOD = [_BUFFER, _SCALAR, {"value": 0.5, "type": "f32"}]


def _check(path, parameters=".param .u64 p, .param .u32 n, .param .f32 x", name="k", more=""):
    text = kernel_text("ret;", more, name, parameters)
    return check_launch(read_launch(path), parse_ptx(text, "k.ptx"))


def test_fits(write):
    assert _check(write(arguments=_GOOD)).name == "k"


@pytest.mark.parametrize("name", ["_Z1kPij", "_Z1kILi3EEvPij"])
def test_name_in_cpp(write, name):
    """The name before the compiler mangled it will do, if no other kernel has it."""
    assert _check(write(arguments=_GOOD), name=name).name == name
    assert _check(write(arguments=_GOOD, kernel=name), name=name).name == name
    with pytest.raises(LaunchError, match="kernel must be one of _Z1kf, "):
        _check(write(arguments=_GOOD), name=name, more=".entry _Z1kf() { ret; }")


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
    with pytest.raises(LaunchError) as caught:
        _check(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert sentence in str(caught.value)


def test_structure_as_parameter(write):
    with pytest.raises(LaunchError, match=r"arguments\[3\].type must be of the kind of .*b8\[12\]"):
        _check(write(arguments=[*_GOOD, _SCALAR]), _PARAMETERS)


def test_more_threads_than_the_kernel_allows(write):
    text = kernel_text("ret;").replace("k()", "k() .maxntid 32, 1, 1")
    module = parse_ptx(text, "k.ptx")
    with pytest.raises(LaunchError, match="block must be at most the 32 threads that the kernel a"):
        check_launch(read_launch(write(block=33)), module)
    assert check_launch(read_launch(write(block=32)), module).max_threads == 32
