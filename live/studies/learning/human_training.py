"""Training of a neural network from records of positions, by threads that share one set
of weights.

Training is limited by wall time and not by a number of steps, so that it ends on time
on any machine. The seed fixes the initial weights, the order and the sample. With more
than one thread the order of additions depends on the machine, so two runs agree in
their figures but not bit by bit.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from live.human.network_input import (
    Positions,
    build_conditions,
    build_planes,
    find_reachable_moves,
)
from live.process.clock import ReadClock
from live.studies.learning.human_network import MoveNetwork
from live.studies.learning.human_positions import OPENING_PLIES, load_positions


def compute_loss(
    network: nn.Module, planes: Tensor, conditions: Tensor, can: Tensor, played: Tensor
) -> Tensor:
    """Return the mean negative log-likelihood of the moves played, in nats."""
    with torch.autocast("cpu", torch.bfloat16):
        logits = network(planes, conditions)
    return functional.cross_entropy(logits.float().masked_fill(~can, -1e9), played)


#: Weight of the past in the running mean of the network's weights. This mean is
#: published as the network.
MEMORY = 0.999


class Plan(NamedTuple):
    """Settings of training: size of the network, duration, and learning rates."""

    channels: int = 64
    blocks: int = 4
    batch: int = 128
    rate: float = 1.5e-3
    decay: float = 0.02
    warm_up: float = 0.02
    last_rate: float = 0.01
    threads: int = 2
    seconds: float = 3600.0
    checkpoint_s: float = 600.0
    seed: int = 1

    def compute_learning_rate(self, share: float) -> float:
        """Return the learning rate after this share of the time: a steep rise, then a
        cosine decay.
        """
        if share < self.warm_up:
            return self.rate * share / self.warm_up
        turned = math.pi * min((share - self.warm_up) / (1 - self.warm_up), 1.0)
        low = self.rate * self.last_rate
        return low + (self.rate - low) * (1 + math.cos(turned)) / 2


class Orthogonal:
    """Optimizer with orthogonal steps (Muon) for the 3x3 convolutions, and AdamW for
    vectors and small layers.

    A step of equal size along every direction of a matrix learns more from each
    position than Adam does (Jordan and others 2024). Steps are scaled to the size of
    Adam's steps, as in Liu and others 2025.
    """

    MOMENTUM = 0.95
    FASTER = 2.0

    def __init__(self, network: nn.Module, decay: float) -> None:
        self.decay = decay
        self.wide = [
            p for p in network.parameters() if p.ndim == 4 and p.shape[-1] == 3
        ]
        wide = {id(p) for p in self.wide}
        self.moved = [torch.zeros_like(p) for p in self.wide]
        self.adam = torch.optim.AdamW(
            [p for p in network.parameters() if id(p) not in wide],
            lr=0.0,
            weight_decay=decay,
            betas=(0.9, 0.98),
        )

    def step(self, rate: float) -> None:
        """Apply the gradients that are stored in the parameters."""
        for group in self.adam.param_groups:
            group["lr"] = rate
        self.adam.step()
        for weight, moved in zip(self.wide, self.moved, strict=True):
            if weight.grad is None:
                continue
            moved.lerp_(weight.grad, 1 - self.MOMENTUM)
            ahead = weight.grad.lerp(moved, self.MOMENTUM).flatten(1)
            turned = orthogonalise(ahead).view_as(weight)
            size = 0.2 * max(ahead.shape) ** 0.5
            weight.mul_(1 - rate * self.FASTER * self.decay)
            weight.add_(turned, alpha=-rate * self.FASTER * size)

    def state_dict(self) -> dict[str, Any]:
        return {"adam": self.adam.state_dict(), "moved": self.moved}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.adam.load_state_dict(state["adam"])
        for average, saved in zip(self.moved, state["moved"], strict=True):
            average.copy_(saved)


def orthogonalise(matrix: torch.Tensor) -> torch.Tensor:
    """Return an approximation of the nearest matrix with orthonormal rows, by five
    Newton-Schulz steps.
    """
    if matrix.shape[0] > matrix.shape[1]:
        return orthogonalise(matrix.T).T
    turned = matrix / (matrix.norm() + 1e-7)
    for _ in range(5):
        square = turned @ turned.T
        turned = (
            3.4445 * turned + (-4.7750 * square + 2.0315 * square @ square) @ turned
        )
    return turned


def build_tensors(rows: Positions) -> tuple[torch.Tensor, ...]:
    """Return planes, conditions, reachable moves and the move played, in the order of
    the parameters of :func:`compute_loss`.
    """
    return (
        torch.from_numpy(build_planes(rows)).to(memory_format=torch.channels_last),
        torch.from_numpy(build_conditions(rows)),
        torch.from_numpy(find_reachable_moves(rows)),
        torch.from_numpy(rows["played"].astype(np.int64)),
    )


#: Contents of a checkpoint: first the objects that have a ``state_dict``, then the
#: numbers.
_LEARNED = ("network", "mean", "optimizer")
_SO_FAR = ("steps", "learned", "spent_s")


class Training:
    """State of training: the weights, their running mean, the optimizer and the
    progress.
    """

    def __init__(self, plan: Plan) -> None:
        torch.manual_seed(plan.seed)
        self.plan = plan
        self.network = MoveNetwork(plan.channels, plan.blocks).to(
            memory_format=torch.channels_last
        )
        self.mean = copy.deepcopy(self.network)
        self.optimizer = Orthogonal(self.network, plan.decay)
        self.steps = 0
        self.learned = 0
        self.spent_s = 0.0
        self.recent: list[float] = []

    def save(self, path: Path) -> None:
        """Write a checkpoint from which training can resume. The file is replaced
        atomically.
        """
        state = {name: getattr(self, name).state_dict() for name in _LEARNED}
        state |= {name: getattr(self, name) for name in _SO_FAR}
        torch.save(state, path.with_suffix(".part"))
        path.with_suffix(".part").replace(path)

    def resume(self, path: Path) -> None:
        """Continue from a checkpoint of a network of the same size."""
        state = torch.load(path, weights_only=True)
        for name in _LEARNED:
            getattr(self, name).load_state_dict(state[name])
        for name in _SO_FAR:
            setattr(self, name, state[name])

    def step(self, rows: Positions) -> None:
        """Learn from one batch."""
        self.network.zero_grad(set_to_none=True)
        error = compute_loss(self.network, *build_tensors(rows))
        error.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        with torch.no_grad():
            self.optimizer.step(
                self.plan.compute_learning_rate(self.spent_s / self.plan.seconds)
            )
            self.steps += 1
            self.learned += len(rows)
            memory = min(MEMORY, self.steps / (self.steps + 10))
            for mean, weights in zip(
                self.mean.parameters(), self.network.parameters(), strict=True
            ):
                mean.lerp_(weights, 1 - memory)
        self.recent.append(error.item())

    def run(
        self,
        batches: Iterator[Positions],
        now: ReadClock,
        report: Callable[[Training], None],
        checkpoint: Path,
    ) -> None:
        """Learn until the plan's seconds have passed; call ``report`` once a minute."""
        reported = saved = now()
        started = reported - self.spent_s
        while self.spent_s < self.plan.seconds:
            self.step(next(batches))
            self.spent_s = now() - started
            if now() - reported >= 60:
                reported = now()
                report(self)
            if now() - saved >= self.plan.checkpoint_s:
                saved = now()
                self.save(checkpoint)
        self.save(checkpoint)
        report(self)


def draw_batches(data: Positions, plan: Plan, learned: int) -> Iterator[Positions]:
    """Yield batches without end. Every position is drawn once before any is repeated.

    ``learned`` is the number of positions that were learned from before an
    interruption.
    """
    drawn = np.random.default_rng(plan.seed)
    first = learned % len(data) // plan.batch * plan.batch
    for _ in range(learned // len(data)):
        drawn.permutation(len(data))
    while True:
        order = drawn.permutation(len(data))
        for start in range(first, len(data) - plan.batch + 1, plan.batch):
            yield data[order[start : start + plan.batch]]
        first = 0


def train(
    folder: Path, plan: Plan, now: ReadClock, write: Callable[[str], None]
) -> MoveNetwork:
    """Learn from ``train-*.npy`` in a folder, or continue from ``checkpoint.pt`` in
    that folder.

    ``write`` receives one line per minute; every fifth line reports the accuracy on a
    sample of ``validation-*.npy``. Returns a network whose weights are the running
    mean.
    """
    torch.set_num_threads(plan.threads)
    # Learned weights lead to denormal numbers, with which the processor is three times
    # slower.
    torch.set_flush_denormal(True)
    training = Training(plan)
    checkpoint = folder / "checkpoint.pt"
    if checkpoint.exists():
        training.resume(checkpoint)
    data = load_positions(folder, "train")
    sample = _draw_sample(load_positions(folder, "validation"), plan.seed)
    write(f"{len(data)} positions to learn from, {training.learned} learned already")
    lines = 0

    def report(at: Training) -> None:
        nonlocal lines
        lines += 1
        recent = at.recent[-200:]
        del at.recent[:-200]
        line = f"{at.learned} positions, loss {sum(recent) / max(len(recent), 1):.3f}"
        if lines % 5 == 0 or at.spent_s >= plan.seconds:
            first, nll = measure_accuracy(at.mean, sample)
            line += f"; validation: first choice {first:.3f}, nll {nll:.3f}"
        write(line)

    training.run(draw_batches(data, plan, training.learned), now, report, checkpoint)
    return training.mean


def _draw_sample(rows: Positions, seed: int, most_rows: int = 4096) -> Positions:
    late = rows[rows["ply"] >= OPENING_PLIES]
    return late[np.random.default_rng(seed).permutation(len(late))[:most_rows]]


@torch.no_grad()
def measure_accuracy(
    network: nn.Module, rows: Positions, batch: int = 512
) -> tuple[float, float]:
    """Return how often the network's first choice was played, and the mean negative
    log-likelihood in nats, both over the reachable moves of some positions.
    """
    hits = 0
    error = 0.0
    for start in range(0, len(rows), batch):
        part = rows[start : start + batch]
        planes, conditions, can, played = build_tensors(part)
        with torch.autocast("cpu", torch.bfloat16):
            logits = network(planes, conditions)
        logits = logits.float().masked_fill(~can, -1e9)
        hits += int((logits.argmax(1) == played).sum())
        error += float(functional.cross_entropy(logits, played, reduction="sum"))
    return hits / len(rows), error / len(rows)
