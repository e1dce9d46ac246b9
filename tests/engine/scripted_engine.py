"""A small UCI engine for fault tests, run as a real process: ``scripted_engine.py MODE [FILE]``.

It plays positions in which e1e2 or e8e7 is legal, and scores them by their halfmove clock, so
that a test knows what must come out. With FILE, the fault happens once: the first process that
makes FILE has it, later ones behave.
"""

import os
import sys
import time


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    mode = sys.argv[1]
    if len(sys.argv) > 2:
        try:
            os.close(os.open(sys.argv[2], os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            mode = "well"
    if mode == "exit":
        sys.stderr.write("no network file\n")
        sys.exit(3)
    if mode == "mute":
        time.sleep(3600)
    fen: list[str] = []
    for line in sys.stdin:
        words = line.split()
        if words[:1] == ["uci"]:
            if mode == "chatty":
                for number in range(2000):
                    say(f"hello {number}")
            say("id name Scripted 1")
            say("option name Hash type spin default 16 min 1 max 64")
            if mode != "standard":
                say("option name UCI_Chess960 type check default false")
            say("uciok")
        elif words[:1] == ["isready"]:
            say("readyok")
        elif words[:1] == ["position"]:
            fen = words[2:8]
        elif words[:1] == ["go"]:
            search(mode, fen, words)
        elif words[:1] == ["quit"]:
            if mode == "stubborn":
                time.sleep(3600)
            return


def search(mode: str, fen: list[str], words: list[str]) -> None:
    best = "e1e2" if fen[1] == "w" else "e8e7"
    score = int(fen[4])
    if mode == "crash":
        os.abort()
    if mode == "crash-at-50" and score == 50:
        sys.stderr.write("assertion failed\n")
        sys.exit(134)
    if mode == "hang":
        time.sleep(3600)
    if mode == "garbage":
        while True:
            say("\x1b[31m?" * 20)
    if mode == "chat":
        while True:
            say("I think")
    if mode == "endless":
        while True:
            sys.stdout.write("x" * 4096)
    if mode == "unreadable":
        say("info depth one score cp some")
    if mode == "greedy":
        hoard = []
        while True:
            hoard.append(bytearray(b"x" * (8 << 20)))
            time.sleep(0.002)
    if mode == "illegal":
        best = "e1e5"
    if mode == "no-move":
        best = "(none)"
    if mode == "slow":
        time.sleep(0.1)
    if mode == "patient":
        say(f"info depth 1 score cp {score} nodes 10 time 1 pv {best}")
        for line in sys.stdin:
            if line.strip() == "stop":
                break
            if line.strip() == "quit":
                return
    if mode != "no-score":
        for depth in range(1, 4):
            say(
                f"info depth {depth} seldepth 9 multipv 1 score cp {score} "
                f"nodes {depth * 100} nps 100000 hashfull 0 time {depth} pv {best} e8d8"
            )
        say(f"info depth 4 multipv 1 score cp {score + 7} lowerbound nodes 400 time 4 pv {best}")
    say(f"bestmove {best}")
    if mode == "twice":
        say(f"bestmove {best}")


main()
