"""Networks of human moves, made and held against games. Part of the composition root:
reads files, asks the clock, prints.

Files of rated games, replayed once into records of positions that training reads from
disk.

A file has one game a line (JSON, may be gzipped): ``m`` moves in UCI joined by spaces,
``w`` and ``b`` Elo, ``kind``, and where known ``wid`` and ``bid``, the players'
numbers.

Which games a network may learn from, and which judge it: decided once, by player.

A game is held out when one of its players is, when it has no player numbers and its
moves are drawn, or when it is among the games that judge the ratings. Of the games held
out, a third serves choices (size, rate, when to stop), two thirds only the figures that
are published.

How well a network says what was played in games, by rating and kind: pure bookkeeping.

Of every game the plies after the opening are asked for, with the players' own ratings
and, where the network knows ratings, with both 400 Elo higher and lower.
"""

import functools
import gzip
import itertools
import math
import multiprocessing
import random
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, NamedTuple

import chess
import msgspec
import numpy as np
from rich.console import Console

from live.errors import ConfigError, InputError
from live.human.network import (
    POSITION,
    HumanNetwork,
    NetworkInput,
    Positions,
    mirror_black,
    pack_position,
)
from live.human.question import KINDS, LEARNED_ELO, explain_not_covered
from live.jobs.analyze_games import print_line, write_json
from live.messages.values import Value
from live.ratings.perceived_rating import Floats
from live.studies.perceived_learning import share_of

Figures = dict[str, Any]
"""By their names in JSON."""
Part = Literal["train", "validation", "test"]
GamePart = Literal["all"] | Part

#: One in so many players, and of games without numbers one in so many games, is held
#: out.
PLAYERS_IN = 8
#: One in so many of the games held out serves choices.
VALIDATION_IN = 3


class HeldOut(Value):
    """Games and players held out by name, besides those drawn.

    ``games`` are SHA-256 sums (hexadecimal) of a game's moves in UCI joined by spaces;
    ``players`` are numbers as in the files of games.
    """

    games: frozenset[str]
    players: frozenset[int]

    def part_of(self, moves: str, players: Iterable[int | None]) -> Part:
        """The part of a game: its moves in UCI joined by spaces, its two players'
        numbers.
        """
        known = [number for number in players if number is not None]
        held = (
            any(
                number in self.players or not share_of(str(number), PLAYERS_IN)
                for number in known
            )
            or (len(known) < 2 and not share_of(moves, PLAYERS_IN))
            or sha256(moves.encode()).hexdigest() in self.games
        )
        if not held:
            return "train"
        return (
            "test" if share_of(f"validation {moves}", VALIDATION_IN) else "validation"
        )


def held_out() -> HeldOut:
    """The games and players that judge this project's ratings
    (``human_held_out.json``).
    """
    text = files(__package__).joinpath("human_held_out.json").read_bytes()
    return msgspec.json.decode(text, type=HeldOut)


#: The first plies are played from memory and are the same in thousands of games.
OPENING_PLIES = 8
#: Shares of positions kept for training: of the opening, and of a kind of game.
KEEP_OPENING = 0.2
KEEP_KIND = {"otb": 1.0, "classical": 1.0, "rapid": 1.0, "blitz": 1.0, "bullet": 0.12}
#: Games to one file of records: some 300,000 positions.
_GAMES_A_FILE = 5000
_move = functools.cache(chess.Move.from_uci)


Elos = tuple[int, int]
"""Of two players."""


class GameLine(NamedTuple):
    """One game of a file: its moves in UCI, both Elo, its kind, and its players'
    numbers.
    """

    moves: str
    elo: Elos
    kind: str
    players: tuple[int | None, int | None]

    def elos(self, turn: chess.Color) -> Elos:
        """The mover's, then the other's."""
        return self.elo if turn else self.elo[::-1]


NumberedLine = tuple[int, GameLine]
"""With its number through all files."""


def games(path: Path) -> Iterator[GameLine]:
    """The games of a file; lines without moves, both ratings and a known kind are left
    out.

    Raises:
        InputError: it cannot be read, or a line of it is no game.
    """
    number = 0
    try:
        with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
            for number, line in enumerate(lines, 1):  # noqa: B007 - for the errors
                raw: dict[str, Any] = _object(line) if line.strip() else {}
                if (
                    raw.get("m")
                    and raw.get("w")
                    and raw.get("b")
                    and raw.get("kind") in KINDS
                ):
                    players = (raw.get("wid"), raw.get("bid"))
                    yield GameLine(raw["m"], (raw["w"], raw["b"]), raw["kind"], players)
    except (OSError, EOFError, zlib.error) as error:
        problem = f"cannot be read behind line {number} ({error})"
        raise InputError(
            str(path), problem, "Give a whole file, plain or gzipped"
        ) from None
    except (ValueError, RecursionError):
        remedy = "Give one game a line"
        raise InputError(f"{path}, line {number}", "is no JSON", remedy) from None


def _object(line: str) -> dict[str, Any]:
    return msgspec.json.decode(line, type=dict[str, Any])


def positions(game: GameLine, number: int) -> list[tuple[Any, ...]]:
    """Every position of a game as a row of records, with the move played; not
    mirrored.
    """
    board = chess.Board()
    moves = [_move(uci) for uci in game.moves.split()]
    rows = []
    for ply, move in enumerate(moves):
        row = pack_position(
            board, moves[max(ply - 2, 0) : ply], game.elos(board.turn), game.kind
        )
        rows.append((*row[:8], move.from_square * 64 + move.to_square, number, ply))
        board.push(move)
    return rows


def encode(numbered: Iterable[NumberedLine], sample: random.Random | None) -> Positions:
    """Positions of many games; with ``sample`` openings and some kinds are thinned
    out.
    """

    def chosen() -> Iterator[tuple[Any, ...]]:
        for number, game in numbered:
            for row in positions(game, number):
                share = KEEP_KIND[game.kind] * (
                    KEEP_OPENING if row[-1] < OPENING_PLIES else 1.0
                )
                if sample is None or share == 1.0 or sample.random() < share:
                    yield row

    rows = np.fromiter(chosen(), dtype=POSITION)
    return mirror_black(rows, rows["ply"] % 2 == 1)


def part(paths: Iterable[Path], wanted: GamePart, held: HeldOut) -> list[NumberedLine]:
    """The games of one part, numbered through all files in the order given."""
    every = enumerate(itertools.chain.from_iterable(map(games, paths)))
    return [
        (number, game)
        for number, game in every
        if wanted in ("all", held.part_of(game.moves, game.players))
    ]


def encode_to(folder: Path, chosen: list[NumberedLine], name: str, seed: int) -> None:
    """Records of many games, shuffled by game, as ``name-000.npy`` and so on.

    Two processes work; files that are there already are kept, so that an interruption
    costs little. With the name ``train`` openings and some kinds are thinned out.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shuffled = list(chosen)
    random.Random(seed).shuffle(shuffled)
    many = -(-len(shuffled) // _GAMES_A_FILE)
    wanted = [
        (folder / f"{name}-{k:03}.npy", shuffled[k::many], k) for k in range(many)
    ]
    missing = [(*job, seed, name == "train") for job in wanted if not job[0].exists()]
    if missing:
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            pool.starmap(_encode_file, missing, chunksize=1)


def _encode_file(
    path: Path, chosen: list[NumberedLine], number: int, seed: int, thinned: bool
) -> None:
    rows = encode(chosen, random.Random(f"{seed} {number}") if thinned else None)
    part_path = path.with_suffix(".part.npy")
    np.save(part_path, rows)
    part_path.replace(path)


def encoded(folder: Path, name: str) -> Positions:
    """The records written by :func:`encode_to`, all files together."""
    return np.concatenate(
        [np.load(path) for path in sorted(folder.glob(f"{name}-???.npy"))]
    )


#: Ratings this far off must say less of the moves than the right ones.
OFF_ELO = 400
#: Width of a band of ratings.
BAND_ELO = 200
#: No move is held less likely than this: a share of zero would be an endless surprise.
FLOOR = 1e-6
_RESAMPLED = 1000


def _surprise(given: dict[str, float], uci: str) -> float:
    return -math.log(max(given[uci], FLOOR))


def asked_of(game: GameLine) -> Iterator[tuple[NetworkInput, str]]:
    """The positions of a game after the opening, each with the move played, in UCI."""
    board = chess.Board()
    for ply, uci in enumerate(game.moves.split()):
        if ply >= OPENING_PLIES:
            yield (
                NetworkInput(board.copy(stack=8), game.elos(board.turn), game.kind),
                uci,
            )
        board.push_uci(uci)


def _shifted(elo: Elos) -> list[Elos]:
    low, high = LEARNED_ELO
    return [
        (elo[0] + off, elo[1] + off)
        for off in (-OFF_ELO, OFF_ELO)
        if low <= elo[0] + off <= high
    ]


def check(network: HumanNetwork, games: Iterable[GameLine]) -> Figures:
    """All figures of one network over games, as ``live-rate human --check`` prints
    them.
    """
    left_out: Counter[str] = Counter()
    # Of a position: number of its game, kind and band of Elo; whether the first choice
    # was played, and the surprise (nats); whether wrong ratings were asked for too, and
    # both surprises.
    rows: list[tuple[float, ...]] = []
    # Of the moves with a forecast in each tenth: its sum, how many were played, how
    # many there are.
    tenths = np.zeros((10, 3))
    count = 0
    for count, game in enumerate(games, 1):
        positions = []
        for asked, uci in asked_of(game):
            reason = explain_not_covered(asked.board)
            if reason is None and uci[4:] in ("", "q"):
                positions.append((asked, uci))
            else:
                left_out[
                    reason or "promotions to a lesser piece were not learned apart"
                ] += 1
        right = network.predict_shares([asked for asked, _ in positions])
        wanted = []
        for asked, _ in positions:
            wanted += [asked._replace(elo=elo) for elo in _shifted(asked.elo)]
        others = iter(network.predict_shares(wanted))
        for (asked, uci), given in zip(positions, right, strict=True):
            loss = _surprise(given, uci)
            wrong = [_surprise(next(others), uci) for _ in _shifted(asked.elo)]
            beside = (1, loss, fmean(wrong)) if wrong else (0, 0, 0)
            own = asked.elo[0] // BAND_ELO * BAND_ELO
            hit = next(iter(given)) == uci
            rows.append((count - 1, KINDS.index(asked.kind), own, hit, loss, *beside))
            shares = np.array([*given.values()])
            each = np.stack(
                [shares, [move == uci for move in given], np.ones(len(shares))], axis=1
            )
            np.add.at(tenths, np.minimum(shares * 10, 9).astype(int), each)
    found = np.array(rows, dtype=np.float64).reshape(-1, 8)
    numbers, kinds, elos = found.T[:3].astype(np.int64)
    off, at_right, at_wrong = (
        np.bincount(numbers, each, count).astype(np.float64) for each in found.T[5:]
    )
    return {
        **_figures(found),
        "right_elo_gain": _gain(off, at_wrong - at_right),
        "by_elo": [
            {"elo": elo, **_figures(found[elos == elo])}
            for elo in np.unique(elos).tolist()
        ],
        "by_kind": [
            {"kind": kind, **_figures(found[kinds == at])}
            for kind, at in sorted(zip(KINDS, itertools.count()))
            if at in kinds
        ],
        "reliability": [
            {
                "at": at / 10,
                "forecast": round(forecast / many, 4),
                "played": round(played / many, 4),
                "positions": int(many),
            }
            for at, (forecast, played, many) in enumerate(tenths.tolist())
            if many
        ],
        "left_out": dict(left_out),
    }


def _figures(rows: Floats) -> Figures:
    """Share of first choices played, and mean negative log-likelihoods in nats."""
    hits, loss, off, right, wrong = rows[:, 3:].sum(axis=0).tolist()
    many = max(len(rows), 1)
    return {
        "positions": len(rows),
        "first_choice": round(hits / many, 4),
        "nll": round(loss / many, 4),
        "right_elo_nll": round(right / off, 4) if off else None,
        "wrong_elo_nll": round(wrong / off, 4) if off else None,
    }


def _gain(many: Floats, gained: Floats) -> dict[str, float] | None:
    """What the right rating is worth against one 400 off, in nats, with its 95 %
    interval.

    Games are drawn again with repetition: the moves of one game are no independent
    witnesses.
    """
    if not many.sum():
        return None
    drawn = np.random.default_rng(1).integers(len(many), size=(_RESAMPLED, len(many)))
    means = gained[drawn].sum(1) / np.maximum(many[drawn].sum(1), 1)
    ends = (gained.sum() / many.sum(), *np.quantile(means, [0.025, 0.975]))
    return dict(
        zip(("mean", "low", "high"), (round(float(x), 4) for x in ends), strict=True)
    )


def check_network(
    files: Sequence[Path],
    network: str,
    *,
    chosen: GamePart,
    most: int | None,
    json: str | None,
) -> int:
    """``live-rate human --check``; returns the exit code."""
    _reject_missing(files)
    model = HumanNetwork(Path(network) if network else None)
    picked = [game for _, game in part(files, chosen, held_out())]
    if not picked:
        raise InputError(
            str(files[0]),
            "holds no game with moves, both ratings and a known kind",
            "See the help",
        )
    if most is not None and len(picked) > most:
        # Spread over the files, which are often in order of time or rating.
        picked = [picked[k * len(picked) // most] for k in range(most)]
    report = {"network": model.about, "games": len(picked), **check(model, picked)}
    if json is not None:
        write_json(json, report, indent=2)
    if json != "-":
        _print(report)
    return 0


def train_network(files: Sequence[Path], out: Path, work: Path, **plan: Any) -> int:
    """``live-rate train-human``; returns the exit code."""
    _reject_missing(files)
    try:
        from live.studies.human_train import Plan, export, train
    except ImportError as error:
        raise ConfigError(
            "train-human",
            f"{error.name} is not installed",
            "Run: pip install 'live-rate[train]'",
        ) from None
    wanted = Plan(**plan)
    held = held_out()
    for name in ("train", "validation"):
        chosen = part(files, name, held)
        if not chosen:
            raise InputError(
                str(files[0]), f"no game is left for {name}", "Give more games"
            )
        encode_to(work, chosen, name, wanted.seed)
    learned = train(
        work, wanted, time.time, lambda line: print_line(line, Console(stderr=True))
    )
    about = {
        "name": out.stem,
        "learned": ", ".join(path.name for path in files),
        "size": f"{wanted.channels} channels, {wanted.blocks} blocks",
        "seed": str(wanted.seed),
    }
    export(learned, out, about)
    return 0


def _reject_missing(files: Sequence[Path]) -> None:
    for path in files:
        if not path.is_file():
            raise InputError(
                str(path), "there is no such file", "Give files of games, as NDJSON"
            )


def _print(report: Figures) -> None:
    console = Console()

    def line(name: str, figures: Figures) -> None:
        wrong = figures["wrong_elo_nll"]
        off = "" if wrong is None else f"  {wrong - figures['right_elo_nll']:+.4f}"
        shares = f"{figures['first_choice']:>9.1%}{figures['nll']:>8.3f}{off}"
        print_line(f"{name:<12}{figures['positions']:>9}{shares}", console)

    print_line(
        f"{'':<12}{'positions':>9}{'first':>9}{'nll':>8}  more with Elo {OFF_ELO} off",
        console,
    )
    line("all", report)
    for kind in report["by_kind"]:
        line(kind["kind"], kind)
    for band in report["by_elo"]:
        line(f"{band['elo']}-{band['elo'] + BAND_ELO - 1}", band)
    for reason, many in report["left_out"].items():
        print_line(f"left out: {many} positions, {reason}", console)
