"""An engine whose answers get damaged now and then: ``garbling_engine.py SEED EVERY PROGRAM …``.

Runs the program on our own standard input and passes its output on. Of EVERY searches, one on
average is damaged in one of the ways below; which and how follows from SEED and from how many of
us there were before (counted in files beside SEED's, which is a path).
"""

import os
import random
import subprocess
import sys


def turn(seed: str) -> int:
    """How many of us came before."""
    number = 0
    while True:
        try:
            os.close(os.open(f"{seed}.{number}", os.O_CREAT | os.O_EXCL))
            return number
        except FileExistsError:
            number += 1


def main() -> None:
    seed, every, program = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    chance = random.Random(f"{os.path.basename(seed)} {turn(seed)}")
    engine = subprocess.Popen(program, stdout=subprocess.PIPE)
    assert engine.stdout is not None
    out = sys.stdout.buffer
    damage = ""
    for line in engine.stdout:
        if line.startswith(b"readyok"):
            ways = ("noise", "letters", "illegal", "silence", "truncated", "death")
            damage = chance.choice(ways) if chance.randrange(every) == 0 else ""
        if damage == "noise" and line.startswith(b"info depth"):
            line = chance.randbytes(30).replace(b"\n", b"\xff") + b"\xff\n"
        elif damage == "letters" and line.startswith(b"info depth"):
            line = line.replace(b" cp ", b" cp c").replace(b" mate ", b" mate m")
        elif damage == "illegal" and line.startswith(b"bestmove"):
            line = b"bestmove a1a1\n"
        elif damage == "silence" and line.startswith(b"bestmove"):
            continue
        elif damage == "truncated" and line.startswith(b"bestmove"):
            line = line[:11] + b"\n"
        elif damage == "death" and line.startswith(b"info depth 3"):
            os.abort()
        out.write(line)
        if line.startswith((b"bestmove", b"uciok", b"readyok")):
            out.flush()


main()
