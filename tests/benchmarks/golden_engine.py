"""A UCI engine whose every answer follows from the question alone, for golden
recordings: material and noise drawn from the position. Run as a process of its own.
"""

import hashlib
import sys

import chess

_VALUES = {
    chess.PAWN: 100,
    chess.KNIGHT: 310,
    chess.BISHOP: 325,
    chess.ROOK: 500,
    chess.QUEEN: 950,
}
_DEPTHS = range(1, 9)


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _noise(text: str, most: int) -> int:
    digest = hashlib.blake2b(text.encode(), digest_size=4).digest()
    return int.from_bytes(digest) % (2 * most + 1) - most


def _value_cp(board: chess.Board) -> int:
    """Of a position, for the side to move."""
    total_cp = 0
    for piece, value_cp in _VALUES.items():
        own = len(board.pieces(piece, board.turn))
        theirs = len(board.pieces(piece, not board.turn))
        total_cp += value_cp * (own - theirs)
    return total_cp


def _moves(board: chess.Board, only: list[str], depth: int) -> list[tuple[int, str]]:
    """Scored for the side to move, the best first."""
    fen = board.epd()
    found = []
    for move in board.legal_moves:
        uci = move.uci()
        if only and uci not in only:
            continue
        board.push(move)
        after_cp = -_value_cp(board)
        board.pop()
        # Deeper looks differ less and less.
        look_cp = _noise(f"{fen} {uci}", 40) + _noise(
            f"{fen} {uci} {depth}", 60 // depth
        )
        found.append((after_cp + look_cp, uci))
    return sorted(found, key=lambda each: (-each[0], each[1]))


def _search(board: chess.Board, only: list[str], lines: int) -> None:
    best = "(none)"
    for depth in _DEPTHS:
        for number, (score_cp, uci) in enumerate(_moves(board, only, depth)[:lines], 1):
            best = uci if number == 1 else best
            say(
                f"info depth {depth} seldepth {depth} multipv "
                f"{number} score cp {score_cp}"
                f" nodes {250 * depth} nps 1000000 hashfull 0 time {depth} pv {uci}"
            )
    say(f"bestmove {best}")


def main() -> None:
    """Speak UCI until told to quit."""
    board, lines, chess960 = chess.Board(), 1, False
    for line in sys.stdin:
        match line.split():
            case ["uci"]:
                say("id name Golden 1")
                say("option name Hash type spin default 16 min 1 max 64")
                say("option name MultiPV type spin default 1 min 1 max 20")
                say("option name UCI_Chess960 type check default false")
                say("uciok")
            case ["isready"]:
                say("readyok")
            case ["setoption", "name", "MultiPV", "value", count]:
                lines = int(count)
            case ["setoption", "name", "UCI_Chess960", "value", given]:
                chess960 = given == "true"
            case ["position", *words]:
                begin, _, played = " ".join(words).partition(" moves")
                fen = (
                    chess.STARTING_FEN
                    if begin == "startpos"
                    else begin.removeprefix("fen ")
                )
                board = chess.Board(fen, chess960=chess960)
                for uci in played.split():
                    board.push_uci(uci)
            case ["go", *words]:
                only = (
                    words[words.index("searchmoves") + 1 :]
                    if "searchmoves" in words
                    else []
                )
                _search(board, [word for word in only if word[:1] in "abcdefgh"], lines)
            case ["quit"]:
                return


if __name__ == "__main__":
    main()
