import os
import subprocess
import sys
from pathlib import Path

import chess
import numpy as np
import pytest

from live.errors import ConfigError
from live.human.difficulty import LEAST_SHARE
from live.human.network import PLANES, Asked, HumanNetwork, open_network, shipped, without_avx

pytest.importorskip("onnxruntime", reason="the extra 'human' is not installed")


@pytest.fixture(scope="module")
def network() -> HumanNetwork:
    return HumanNetwork(shipped())


def _asked(line: str, elo: int, kind: str = "otb") -> Asked:
    board = chess.Board()
    for san in line.split():
        board.push_san(san)
    return Asked(board, (elo, elo), kind)


def test_what_ships_is_small_and_says_what_it_was_learned_from(network: HumanNetwork) -> None:
    assert shipped().stat().st_size <= 6_000_000
    assert "games" in network.about["learned"]


def test_shares_add_up_over_the_legal_moves(network: HumanNetwork) -> None:
    lines = ("", "e4 e5 Nf3 Nc6", "d4 d5 c4 dxc4 e4 b5 a4", "e4 c5 Nf3 d6 d4 cxd4")
    asked = [_asked(line, 2000) for line in lines]
    for one, given in zip(asked, network.shares(asked), strict=True):
        assert set(given) == {move.uci() for move in one.board.legal_moves}
        assert sum(given.values()) == pytest.approx(1)
        assert list(given.values()) == sorted(given.values(), reverse=True)


def test_many_at_once_are_answered_as_one_by_one(network: HumanNetwork) -> None:
    asked = [_asked("e4 e5 Nf3 Nc6 Bb5", elo) for elo in range(1000, 2800, 20)]
    together = network.shares(asked)
    for one, given in list(zip(asked, together, strict=True))[::30]:
        assert network.shares([one])[0] == pytest.approx(given, abs=1e-4)
    assert network.shares([]) == []


def test_everybody_takes_back(network: HumanNetwork) -> None:
    given = network.shares([_asked("e4 d5 exd5", 2000)])[0]
    assert max(given["d8d5"], given["g8f6"]) == max(given.values())


def _apart(one: dict[str, float], other: dict[str, float]) -> float:
    """The share of players who would have to move otherwise."""
    return sum(abs(share - other[uci]) for uci, share in one.items()) / 2


def test_the_rating_matters(network: HumanNetwork) -> None:
    # 1.e4 c5 2.Nf3: masters go on with the Open Sicilian, beginners with what they know.
    low, high = network.shares([_asked("e4 c5 Nf3 d6", 1000), _asked("e4 c5 Nf3 d6", 2500)])
    assert high["d2d4"] > low["d2d4"] + 0.05
    assert _apart(low, high) > 0.1
    assert min(low.values()) < LEAST_SHARE


def test_the_kind_of_game_matters(network: HumanNetwork) -> None:
    board, bullet = network.shares(
        [_asked("e4 c5 Nf3 d6 d4", 1800, kind) for kind in ("otb", "bullet")]
    )
    assert _apart(board, bullet) > 0.01


@pytest.mark.slow
def test_nothing_is_noted_or_reported_of_this_machine(tmp_path: Path) -> None:
    """Onnxruntime keeps an identity of the machine for its telemetry, unless it is told not to."""
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    code = "from live.human.network import open_network; open_network()"
    told = {"ORT_DISABLE_TELEMETRY": ""}
    subprocess.run([sys.executable, "-c", code], env={**os.environ, **told, **home}, check=True)
    assert list(tmp_path.rglob("*")) == []


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no such file"):
        open_network(tmp_path / "none.onnx")
    with pytest.raises(ConfigError, match="there is no such file"):
        open_network(tmp_path / "maia-1500.pb.gz")


def test_what_is_no_network_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "network.onnx"
    path.write_bytes(b"no network at all")
    with pytest.raises(ConfigError, match="is no network") as caught:
        HumanNetwork(path)
    assert "\n" not in str(caught.value)


@pytest.fixture
def made(tmp_path: Path):  # type: ignore[no-untyped-def]
    """Small networks to order: the logits are the first plane's sum, times a factor."""
    onnx = pytest.importorskip("onnx", reason="makes the networks of this test")

    def make(planes: int = PLANES, width: int = 4096, factor: float = 1.0, name: str = "planes"):  # type: ignore[no-untyped-def]
        helper, kinds = onnx.helper, onnx.TensorProto
        weight = np.full((20, width), factor, np.float32)
        nodes = [
            helper.make_node("ReduceSum", [name, "axes"], ["sum"], keepdims=0),
            helper.make_node("Mul", ["conditions", "one"], ["kept"]),
            helper.make_node("MatMul", ["kept", "weight"], ["given"]),
            helper.make_node("Mul", ["given", "zero"], ["scaled"]),
            helper.make_node("Unsqueeze", ["sum", "last"], ["tall"]),
            helper.make_node("Add", ["scaled", "tall"], ["logits"]),
        ]
        graph = helper.make_graph(
            nodes,
            "made",
            [
                helper.make_tensor_value_info(name, kinds.FLOAT, ["n", planes, 8, 8]),
                helper.make_tensor_value_info("conditions", kinds.FLOAT, ["n", 20]),
            ],
            [helper.make_tensor_value_info("logits", kinds.FLOAT, ["n", width])],
            [
                onnx.numpy_helper.from_array(weight, "weight"),
                onnx.numpy_helper.from_array(np.array([1, 2, 3]), "axes"),
                onnx.numpy_helper.from_array(np.array([1]), "last"),
                onnx.numpy_helper.from_array(np.array(1, np.float32), "one"),
                onnx.numpy_helper.from_array(np.array(1, np.float32), "zero"),
            ],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        path = tmp_path / "made.onnx"
        onnx.save(model, str(path))
        return path

    return make


def test_any_network_of_the_documented_shapes_will_do(made) -> None:  # type: ignore[no-untyped-def]
    given = open_network(made()).shares([_asked("", 2000)])[0]
    assert len(given) == 20
    assert given["e2e4"] == pytest.approx(1 / 20)


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ({"planes": 18}, "input planes is n x 18 x 8 x 8"),
        ({"width": 1858}, "answers 1 x 1858 for 1 positions"),
        ({"factor": float("nan")}, "numbers that are none"),
        ({"name": "board"}, "has inputs board, conditions"),
    ],
)
def test_a_network_of_other_shape_or_without_numbers_is_refused(  # type: ignore[no-untyped-def]
    made, order: dict[str, float], said: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        HumanNetwork(made(**order))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("machine", "cpuinfo", "old"),
    [
        ("x86_64", "flags\t\t: fpu sse sse2 avx avx2\n", False),
        ("x86_64", "flags\t\t: fpu sse sse2\n", True),
        ("x86_64", "", False),
        ("aarch64", "Features\t: fp asimd\n", False),
    ],
)
def test_a_processor_too_old_for_onnxruntime_is_known_before_it_crashes(
    machine: str, cpuinfo: str, old: bool
) -> None:
    assert without_avx(machine, cpuinfo) is old


def test_without_onnxruntime_or_avx_the_line_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as gone:
        gone.setitem(sys.modules, "onnxruntime", None)
        with pytest.raises(ConfigError, match=r"not installed.*live-rate\[human\]"):
            open_network()
    monkeypatch.setattr("live.human.network.without_avx", lambda machine, cpuinfo: True)
    with pytest.raises(ConfigError, match=r"no AVX.*enabled = false"):
        open_network()
