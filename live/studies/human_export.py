"""A trained network as an ONNX file, with what it was learned from written inside."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch

from live.human.encoding import CONDITIONS, PLANES
from live.studies.human_architecture import MoveNetwork


def export(network: MoveNetwork, path: Path, about: Mapping[str, str]) -> None:
    """Write ``planes`` and ``conditions`` to ``logits``, in float32, for any number of positions.

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
