"""A list of 200,000 players at start-up, and a field of 300 rated by it.

    python -m tests.benchmarks.service.rating_list [PLAYERS]

Names are made up from syllables, so that many share a surname, as in FIDE's list.
"""

# ruff: noqa: T201 - its output is what it is for
from __future__ import annotations

import random
import sys
import tempfile
import time
from pathlib import Path

import chess

from live.config import FeedsConfig
from live.events import FeedReport, GameReport, Headers, Player
from live.players.player_lists import open_player_lists

HEADING = (
    "ID Number      Name                                                         Fed Sex Tit  "
    "WTit OTit           FOA SRtng SGm SK RRtng RGm Rk BRtng BGm BK B-day Flag\n"
)
SYLLABLES = [
    "an",
    "bo",
    "cer",
    "da",
    "el",
    "fi",
    "gu",
    "ha",
    "iv",
    "jo",
    "ka",
    "lu",
    "mi",
    "no",
    "or",
    "pe",
    "ra",
    "sa",
    "to",
    "ur",
    "va",
    "wi",
    "yu",
    "zo",
]


def made_up(count: int) -> list[tuple[int, str, int]]:
    chance = random.Random(17)

    def word(syllables: int) -> str:
        return "".join(chance.choices(SYLLABLES, k=syllables)).capitalize()

    return [
        (1_000_000 + number, f"{word(3)}, {word(3)}", chance.randint(1400, 2600))
        for number in range(count)
    ]


def as_txt(rows: list[tuple[int, str, int]]) -> str:
    return HEADING + "".join(
        f"{number:<15}{name:<61}NOR M   {'':<29}{elo:<6}0   20 {elo:<6}0   20 {elo:<6}0   20 1990\n"
        for number, name, elo in rows
    )


def as_xml(rows: list[tuple[int, str, int]]) -> str:
    players = "".join(
        f"<player>\n<fideid>{number}</fideid>\n<name>{name}</name>\n<country>NOR</country>\n"
        f"<sex>M</sex>\n<title></title>\n<w_title></w_title>\n<o_title></o_title>\n"
        f"<rating>{elo}</rating>\n<games>0</games>\n<k>20</k>\n<rapid_rating>{elo}</rapid_rating>\n"
        f"<blitz_rating>{elo}</blitz_rating>\n<birthday>1990</birthday>\n<flag></flag>\n</player>\n"
        for number, name, elo in rows
    )
    return f"<playerslist>\n{players}</playerslist>\n"


def as_csv(rows: list[tuple[int, str, int]]) -> str:
    lines = (f'{number},"{name}",NOR,,{elo}\n' for number, name, elo in rows)
    return "FideId,Name,Fed,Title,Rating\n" + "".join(lines)


def main() -> None:
    count = int(sys.argv[1]) if sys.argv[1:] else 200_000
    rows = made_up(count)
    field = rows[:: max(1, count // 300)]
    players = [
        Player(name, fide_id=number if at % 2 else None)
        for at, (number, name, _) in enumerate(field)
    ]
    games = tuple(
        GameReport("", Headers(white, black), chess.STARTING_FEN)
        for white, black in zip(players[::2], players[1::2], strict=False)
    )
    with tempfile.TemporaryDirectory() as folder:
        for suffix, text in (("txt", as_txt(rows)), ("xml", as_xml(rows)), ("csv", as_csv(rows))):
            path = Path(folder, f"players.{suffix}")
            path.write_text(text)
            start_s, cpu_s = time.perf_counter(), time.process_time()
            lists = open_player_lists(FeedsConfig(rating_list=str(path)))
            opened_s, opened_cpu_s = time.perf_counter() - start_s, time.process_time() - cpu_s
            start_s = time.perf_counter()
            applied = lists.applied(FeedReport("x", games))
            rated_s = time.perf_counter() - start_s
            sides = [side for g in applied.games for side in (g.headers.white, g.headers.black)]
            rated = sum(side.elo is not None for side in sides)
            print(
                f"{suffix}: {path.stat().st_size / 1e6:.0f} MB, {count} players opened in"
                f" {opened_s:.2f} s ({opened_cpu_s:.2f} s of processor); {rated} of {len(sides)}"
                f" rated in {rated_s:.3f} s, {len(lists.doubtful)} doubtful"
            )


if __name__ == "__main__":
    main()
