"""A small UCI engine for fault tests, run as a real process: ``scripted_engine.py MODE
[FILE]``.

It plays positions in which e1e2 or e8e7 is legal, and scores them by their halfmove
clock, so that a test knows what must come out. With FILE, the fault happens once: the
first process that makes FILE has it, later ones behave. ``garbled`` has some fault in
one search of 25; which and when follows from how many processes there were before, as
FILE tells.
"""

import os
import random
import signal
import sys
import time
from collections.abc import Callable

GARBLED = ("garbage", "unreadable", "illegal", "hang", "no-move", "crash")


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def make_noise() -> None:
    while True:
        sys.stdout.write("\x1b[31m?" * 20 + "\n")


def hoard() -> None:
    hoarded = []
    while True:
        hoarded.append(bytearray(b"x" * (1 << 20)))
        time.sleep(0.001)


def deafen() -> None:
    os.close(0)
    time.sleep(0.1)


#: What is done before a search is answered.
FAULTS: dict[str, Callable[[], object]] = {
    "crash": os.abort,
    "hang": lambda: time.sleep(3600),
    "garbage": make_noise,
    "unreadable": lambda: say("info depth one score cp some"),
    "greedy": hoard,
    "deaf": deafen,
    "slow": lambda: time.sleep(0.1),
}
#: The answer, where it is another than the good one.
ANSWERS = {"illegal": "e1e5", "no-move": "(none)"}


def main() -> None:
    mode = sys.argv[1]
    chance = random.Random()
    if mode == "garbled":
        with open(sys.argv[2], "a") as file:
            file.write("x")
            chance.seed(file.tell())
    elif len(sys.argv) > 2:
        try:
            os.close(os.open(sys.argv[2], os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            mode = "well"
    if mode == "exit":
        sys.stderr.write("no network file\n")
        sys.exit(3)
    if mode == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if mode == "mute":
        time.sleep(3600)
    if mode in ("no-net", "slow-net"):
        say("info string loading the network")
        say(f"in {os.getcwd()}")
    if mode == "no-net":
        say("info string ERROR: The network file net.bin was not loaded.")
        say("info string ERROR: The engine ends now.")
        sys.exit(1)
    fen: list[str] = []
    for line in sys.stdin:
        words = line.split()
        if words[:1] == ["uci"]:
            say("id name Scripted 1")
            say("option name Hash type spin default 16 min 1 max 64")
            if mode != "standard":
                say("option name UCI_Chess960 type check default false")
            say("uciok")
        elif words[:1] == ["isready"]:
            if mode == "slow-net":
                time.sleep(3600)
            say("readyok")
        elif words[:1] == ["position"]:
            fen = words[2:8]
        elif words[:1] == ["go"]:
            garbled = mode == "garbled" and chance.randrange(25) == 0
            search(chance.choice(GARBLED) if garbled else mode, fen)
        elif words[:1] == ["quit"]:
            if mode == "stubborn":
                time.sleep(3600)
            return


def search(mode: str, fen: list[str]) -> None:
    best = ANSWERS.get(mode, "e1e2" if fen[1] == "w" else "e8e7")
    score = int(fen[4])
    if mode in FAULTS:
        FAULTS[mode]()
    if mode == "crash-at-50" and score == 50:
        sys.stderr.write("assertion failed\n")
        sys.exit(134)
    if mode == "patient":
        say(f"info depth 1 score cp {score} nodes 10 time 1 pv {best}")
        for line in sys.stdin:
            if line.strip() == "stop":
                break
            if line.strip() == "quit":
                sys.exit()
    for number in range(30_000 if mode == "verbose" else 0):
        say(f"info depth 1 currmove e1e2 nodes {number} score cp 1 upperbound")
    for depth in range(1, 4):
        say(
            f"info depth {depth} seldepth 9 multipv 1 score cp {score} "
            f"nodes {depth * 100} nps 100000 hashfull 0 time {depth} pv {best} e8d8"
        )
    say(
        f"info depth 4 multipv 1 score cp {score + 7} lowerbound nodes "
        f"400 time 4 pv {best}"
    )
    for _ in range(2 if mode == "twice" else 1):
        say(f"bestmove {best}")


main()
