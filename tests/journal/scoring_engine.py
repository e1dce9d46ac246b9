"""A small UCI engine that plays the first legal move and scores by a rule, run as a
real process: ``scoring_engine.py RULE [NAME]``. Rules: ``known`` (the stored score of a
reference position, times 0.8), ``random`` (the same at each visit, but of chance).
"""

import sys
import zlib

import chess

from live.ratings.engine_scale import load_reference


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    rule, name = sys.argv[1], " ".join(sys.argv[2:]) or "Scoring 1"
    known = {each.fen: each.score_cp for each in load_reference().positions}
    board = chess.Board()
    for line in sys.stdin:
        words = line.split()
        if words[:1] == ["uci"]:
            say(f"id name {name}")
            say("uciok")
        elif words[:1] == ["isready"]:
            say("readyok")
        elif words[:1] == ["position"]:
            board = chess.Board(" ".join(words[2:8]))
            for move in words[9:]:
                board.push_uci(move)
        elif words[:1] == ["go"]:
            told = " ".join(
                (board.epd(en_passant="legal"), str(board.halfmove_clock), "1")
            )
            chance = zlib.crc32(told.encode()) % 601 - 300
            white_cp = (
                chance if rule == "random" else round(0.8 * known.get(told, chance))
            )
            score = white_cp if board.turn else -white_cp
            move = (
                words[words.index("searchmoves") + 1] if "searchmoves" in words else ""
            )
            best = move or next(iter(board.legal_moves)).uci()
            say(f"info depth 1 score cp {score} nodes 100 time 1 pv {best}")
            say(f"bestmove {best}")
        elif words[:1] == ["quit"]:
            return


if __name__ == "__main__":
    main()
