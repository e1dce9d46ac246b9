"""Neural network of human moves, in torch; only training imports this module.

The network has a stem and ``blocks`` residual blocks of two 3x3 convolutions. Both
ratings and the kind of game scale and shift the middle of every block, together with
the mean over the whole board. At the end each square has one vector as the origin of a
move and one as its destination; their products are the logits of the 64 x 64 moves. A
promotion is represented by its origin and destination only.
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
    """Residual block: two convolutions and a shortcut. The block starts as the
    identity, so it needs no normalisation.
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

    def forward(self, features: Tensor, conditions: Tensor) -> Tensor:
        scale, shift = self.given(conditions).chunk(2, 1)
        shift = shift + self.board(features.mean((2, 3)))
        middle = (
            self.first(features) * (1 + scale)[:, :, None, None]
            + shift[:, :, None, None]
        )
        result: Tensor = functional.relu(
            features + self.second(functional.relu(middle))
        )
        return result


class MoveNetwork(nn.Module):
    """Network from planes ``(n, PLANES, 8, 8)`` and conditions ``(n, CONDITIONS)`` to
    logits ``(n, 4096)``.
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
        condition_features = self.given(conditions)
        features = functional.relu(self.stem(planes))
        for block in self.blocks:
            features = block(features, condition_features)
        scale, shift = self.leave_given(condition_features).chunk(2, 1)
        leave = (
            self.leave(features).flatten(2) * (1 + scale)[:, :, None]
            + shift[:, :, None]
        )
        go = self.go(features).flatten(2)
        return (leave.transpose(1, 2) @ go * _SQUARE**-0.5).flatten(1)


def export_network(
    network: MoveNetwork, path: Path, metadata: Mapping[str, str]
) -> None:
    """Write the network to an ONNX file in float32: from ``planes`` and ``conditions``
    to ``logits``, for any number of positions.

    ``metadata`` is stored in the file's metadata. Needs the ``onnx`` package.
    """
    import onnx

    inputs = (torch.zeros(2, PLANES, 8, 8), torch.zeros(2, CONDITIONS))
    part = path.with_suffix(".part")
    batch_axis = {0: "n"}
    torch.onnx.export(
        network.eval().to(memory_format=torch.contiguous_format),
        inputs,
        str(part),
        input_names=["planes", "conditions"],
        output_names=["logits"],
        dynamic_axes={
            "planes": batch_axis,
            "conditions": batch_axis,
            "logits": batch_axis,
        },
        opset_version=17,
        dynamo=False,
    )
    model = onnx.load(str(part))
    onnx.helper.set_model_props(model, dict(metadata))
    onnx.save(model, str(part))
    part.replace(path)
