"""The network of human moves, in torch: only training imports it.

A stem and ``blocks`` residual blocks of two 3x3 convolutions. Who plays (both ratings,
the kind of game) scales and shifts the middle of every block, together with the mean of
the whole board. At the end each square gets a vector as a place to leave and one as a
place to go; their products are the logits of the 64 x 64 moves. A promotion counts as
its from and to.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from live.human.network_input import CONDITIONS, PLANES

_GIVEN = 64
_SQUARE = 64


class Block(nn.Module):
    """Two convolutions beside a shortcut; starts as the identity, so that no norm is
    needed.
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)
        self.given = nn.Linear(_GIVEN, 2 * channels)
        self.board = nn.Linear(channels, channels, bias=False)
        nn.init.zeros_(self.second.weight)
        nn.init.zeros_(self.second.bias)  # type: ignore[arg-type]
        nn.init.normal_(self.given.weight, std=0.02)
        nn.init.zeros_(self.given.bias)
        nn.init.zeros_(self.board.weight)

    def forward(self, seen: Tensor, given: Tensor) -> Tensor:
        scale, shift = self.given(given).chunk(2, 1)
        shift = shift + self.board(seen.mean((2, 3)))
        middle = (
            self.first(seen) * (1 + scale)[:, :, None, None] + shift[:, :, None, None]
        )
        result: Tensor = functional.relu(seen + self.second(functional.relu(middle)))
        return result


class MoveNetwork(nn.Module):
    """Planes ``(n, PLANES, 8, 8)`` and conditions ``(n, CONDITIONS)`` to logits ``(n,
    4096)``.
    """

    def __init__(self, channels: int, blocks: int) -> None:
        super().__init__()
        self.stem = nn.Conv2d(PLANES, channels, 3, padding=1)
        self.given = nn.Sequential(
            nn.Linear(CONDITIONS, _GIVEN),
            nn.ReLU(),
            nn.Linear(_GIVEN, _GIVEN),
            nn.ReLU(),
        )
        self.blocks = nn.ModuleList(Block(channels) for _ in range(blocks))
        self.leave = nn.Conv2d(channels, _SQUARE, 1)
        self.go = nn.Conv2d(channels, _SQUARE, 1)
        self.leave_given = nn.Linear(_GIVEN, 2 * _SQUARE)

    def forward(self, planes: Tensor, conditions: Tensor) -> Tensor:
        given = self.given(conditions)
        seen = functional.relu(self.stem(planes))
        for block in self.blocks:
            seen = block(seen, given)
        scale, shift = self.leave_given(given).chunk(2, 1)
        leave = (
            self.leave(seen).flatten(2) * (1 + scale)[:, :, None] + shift[:, :, None]
        )
        go = self.go(seen).flatten(2)
        return (leave.transpose(1, 2) @ go * _SQUARE**-0.5).flatten(1)


def export_network(network: MoveNetwork, path: Path, about: Mapping[str, str]) -> None:
    """Write ``planes`` and ``conditions`` to ``logits``, in float32, for any number of
    positions.

    ``about`` goes into the file's metadata. Needs the ``onnx`` package.
    """
    import onnx

    given = (torch.zeros(2, PLANES, 8, 8), torch.zeros(2, CONDITIONS))
    part = path.with_suffix(".part")
    many = {0: "n"}
    torch.onnx.export(
        network.eval().to(memory_format=torch.contiguous_format),
        given,
        str(part),
        input_names=["planes", "conditions"],
        output_names=["logits"],
        dynamic_axes={"planes": many, "conditions": many, "logits": many},
        opset_version=17,
        dynamo=False,
    )
    made = onnx.load(str(part))
    onnx.helper.set_model_props(made, dict(about))
    onnx.save(made, str(part))
    part.replace(path)
