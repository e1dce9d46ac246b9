"""Fuzzes everything that takes bytes from outside, for as long as is asked.

    LIVE_RATE_FUZZ_SECONDS=3600 python -m tests.fuzz.run [SEED [TARGET ...]]

Each target gets an equal share of the time. Inputs that a target accepted are mutated
further, so that mutations add up. A finding is written to a file in
``$LIVE_RATE_FUZZ_FOLDER`` (the working folder by default), and the run goes on; it ends
with the number of findings, 1 at most, as its exit code.
"""

# ruff: noqa: T201 - its output is what it is for
import logging
import os
import sys
import time
import traceback
from hashlib import sha256
from pathlib import Path
from random import Random

from tests.fuzz import feeds, service
from tests.fuzz.mutation import Target, mutate, try_input

TARGETS: tuple[Target, ...] = feeds.TARGETS + service.TARGETS
#: Accepted inputs that are mutated further.
_CORPUS = 200
#: Inputs above this size are not kept: they cost time and show nothing that smaller
#: ones do not.
_KEPT_BYTES = 20_000


def fuzz(
    target: Target, random: Random, until_s: float
) -> tuple[int, dict[str, bytes]]:
    """Inputs tried, and findings: where in our code each escaped, with its
    first input.
    """
    corpus = list(target.seeds)
    findings: dict[str, bytes] = {}
    count = 0
    while time.monotonic() < until_s:
        seed = (
            random.choice(corpus)
            if random.random() < 0.7
            else random.choice(target.seeds)
        )
        data = mutate(random, seed, target.tokens)
        count += 1
        try:
            taken = try_input(target, data)
        except Exception as error:
            place = _place(error)
            if place not in findings:
                traceback.print_exc()
                findings[place] = data
            continue
        if taken and len(data) <= _KEPT_BYTES:
            corpus.append(data)
            del corpus[:-_CORPUS]
    return count, findings


def _place(error: Exception) -> str:
    """Type of an error, and the last line of ours that it came through."""
    ours = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if "/live/" in frame.filename or "/tests/" in frame.filename
    ]
    return f"{type(error).__name__} at {Path(ours[-1].filename).name}:{ours[-1].lineno}"


def main() -> int:
    logging.disable(logging.CRITICAL)
    seconds = float(os.environ.get("LIVE_RATE_FUZZ_SECONDS", "60"))
    folder = Path(os.environ.get("LIVE_RATE_FUZZ_FOLDER", "."))
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    chosen = [each for each in TARGETS if not sys.argv[2:] or each.name in sys.argv[2:]]
    found = 0
    for target in chosen:
        until_s = time.monotonic() + seconds / len(chosen)
        count, findings = fuzz(target, Random(f"{target.name} {seed}"), until_s)
        print(f"{target.name}: {count} inputs, {len(findings)} findings", flush=True)
        for place, data in findings.items():
            name = (
                f"fuzz-{target.name.replace(' ', '-')}-{sha256(data).hexdigest()[:8]}"
            )
            (folder / name).write_bytes(data)
            print(f"  {place}: {name}, {len(data)} bytes", flush=True)
        found += len(findings)
    return min(found, 1)


if __name__ == "__main__":
    sys.exit(main())
