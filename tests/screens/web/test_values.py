"""What single functions of the page's modules answer, a case a line."""

from collections.abc import Iterator
from typing import Any

import chess
import pytest

from live.messages.health import EngineHealth, EngineState
from live.screens.terminal.text import FEED_SIGNS, write_clock
from live.server import static_files
from tests.screens.web.conftest import Pages
from tests.screens.web.games import START, plain

KINGS = "4k3/8/8/8/8/8/8/4K3"
ENGLISH = {"round": "Round {}", "board": "Board {}"}
PAIRED = {
    "event": "Round 1: Anna - Bea",
    "white": {"name": "Anna"},
    "black": {"name": "Bea"},
}
HALL = {**PAIRED, "event": "Open"}
OVERLAY = "overlay?game=g+1&ply=7"
MOMENT = {"game": "g 1", "ply": 7}
BUSY = (
    EngineState(0, "searching", 450.4, depth=15),
    EngineState(1, "idle", 50.0, depth=9),
)
COUNTING = {
    "en": {"locale": "en-GB", "moves": ["{} move", "{} moves"]},
    "ru": {"locale": "ru", "moves": ["{} ход", "{} хода", "{} ходов"]},
}
GERMAN, FRENCH, RUSSIAN = list("KDTLS"), list("RDTFC"), ["Кр", "Ф", "Л", "С", "К"]


def place(round: str, board: int | None) -> list[Any]:
    return [{**HALL, "round": round, "board": board}, ENGLISH]


def lost(played_cp: int, gain_cp: int | None, mover: str = "white") -> list[Any]:
    return [{"played_cp": played_cp, "score_cp": 0, "gain_cp": gain_cp}, mover]


def mark(sign: str, name: str) -> dict[str, str]:
    return {"sign": sign, "name": name}


CASES: dict[str, list[tuple[str, list[Any], Any]]] = {
    "client/board_position.js": [
        ("materialText", [chess.STARTING_BOARD_FEN], {"white": "", "black": ""}),
        ("materialText", ["4k3/8/8/8/8/8/PP6/4K3"], {"white": "♟♟ +2", "black": ""}),
        # A bishop for a knight is nothing in all.
        ("materialText", ["4kn2/8/8/8/8/8/8/4KB2"], {"white": "♝", "black": "♞"}),
        ("materialText", ["3qk3/8/8/8/8/8/8/R3K2R"], {"white": "♜♜ +1", "black": "♛"}),
        ("materialText", ["4k3/8/8/8/8/8/ppp5/4KN2"], {"white": "♞", "black": "♟♟♟"}),
        ("sanOf", ["7k/8/8/3Q3Q/8/8/8/K6Q w - - 0 1", [], "h5d1"], "Qh5d1"),
    ],
    "client/games.js": [
        ("eventOf", [PAIRED], ""),
        ("dateText", ["2026.05.02"], "2 May 2026"),
        *(("dateText", [odd], "") for odd in ("2026.??.??", "", "yesterday")),
        ("pointsText", [2.25], "2.25"),
        *(
            ("isLow", [{"result": "*"}, left, start], left in (59, 9))
            for left, start in (
                (59, 5400),
                (9, 180),
                (61, 5400),
                (21, 900),
                (30, 180),
                (None, 180),
                (5, None),
                (0, 0),
            )
        ),
        ("isLow", [{"result": "1-0"}, 59, 5400], False),
    ],
    "client/figures.js": [
        # Against much weaker opponents less than the own Elo may be more than is usual.
        *(
            (
                "compareWithUsual",
                [{"value": value, "low": 1800, "high": 2000, "index": False}, elo],
                at,
            )
            for value, elo, at in (
                (2120, 1900, {"is": "above", "distance": "\u25b2220", "at": 1}),
                (
                    2020,
                    2050,
                    {"is": "above", "distance": "\u25b2", "at": pytest.approx(0.86)},
                ),
                (1900, 1950, {"is": "within", "distance": "", "at": 0.5}),
                (
                    1790,
                    1780,
                    {"is": "below", "distance": "\u25bc", "at": pytest.approx(0.17)},
                ),
                (
                    1790,
                    1900,
                    {"is": "below", "distance": "\u25bc110", "at": pytest.approx(0.17)},
                ),
            )
        ),
        # Nobody is better than all or than none.
        *(
            ("percentText", [value], said)
            for value, said in ((0.2, "1"), (49.6, "50"), (99.8, "99"))
        ),
    ],
    "drawing/contrast.js": [
        ("contrast", ["000", "fff"], 21),
        ("contrast", ["#ffffff", "#ffffffff"], 1),
        # What light comes through counts as it is worst.
        ("contrast", ["fff", "00000000"], 1),
        ("readable", ["#ffcf5c", "#fff", "#000"], "#ffcf5c"),
        ("readable", ["fd0", "fd0", "fe0"], "fd0"),  # nothing is
    ],
    "drawing/number_format.js": [
        ("scoreText", [34, None], "+0.34"),
        ("scoreText", [-120, None], "−1.20"),
        ("scoreText", [0, None], "0.00"),
        ("scoreText", [3900, 5], "#5"),
        ("scoreText", [-3900, -5], "−#5"),
        ("scoreText", [3900, 0], "#0"),
        ("scoreText", [None, None], ""),
        ("whiteShare", [0], 0.5),
        # lichess.org/page/accuracy
        ("whiteShare", [300], pytest.approx(0.751, abs=5e-4)),
        # The terminal's.
        *(
            ("clockText", [left], write_clock(left))
            for left in (None, -1, 9.9, 309, 3599.9, 3600, 6e3, 36e3)
        ),
        ("moveText", [1, "e4", START], "1.\u00a0e4"),
        ("moveText", [2, "c5", START], "1…\u00a0c5"),
        ("moveText", [1, "Kd7", f"{KINGS} b - - 0 31"], "31…\u00a0Kd7"),
        ("moveText", [2, "Kd2", f"{KINGS} b - - 0 31"], "32.\u00a0Kd2"),
        ("resultText", ["1/2-1/2"], "½–½"),
        ("resultText", ["*"], ""),
        ("resultText", ["1-0"], "1–0"),
        ("safeLink", ["https://lichess.org/x"], "https://lichess.org/x"),
        *(
            ("safeLink", [bad], None)
            for bad in ("javascript:a(1)", " JaVaScRiPt:a(1)", "")
        ),
    ],
    "drawing/player_names.js": [
        ("nameForms", [each[0] if each[0] != "?" else ""], each)
        for each in (
            ["Nepomniachtchi, Ian", "Nepomniachtchi, I.", "Nepomniachtchi"],
            ["Praggnanandhaa Rameshbabu", "P. Rameshbabu", "Rameshbabu"],
            ["Jorden van Foreest", "J. van Foreest", "van Foreest"],
            ["Gukesh D", "Gukesh"],
            ["Gukesh D.", "Gukesh"],
            ["DrNykterstein"],
            ["Wei, Yi", "Wei"],
            ["丁立人"],
            ["王, 皓", "王"],
            # Letters that join have no initial.
            ["كارلسن, ماغنوس", "كارلسن"],
            ["Непомнящий, Ян", "Непомнящий"],
            ["Карпов Анатолий Евгеньевич", "Карпов А.", "Карпов"],
            ["?"],
            [", Nobody", "Nobody"],
            # A comma in brackets parts no name.
            ["侯逸凡 (Hou, Yifan)", "侯逸凡"],
            ["Magnus Carlsen (NOR)", "M. Carlsen", "Carlsen"],
        )
    ],
    "page/language.js": [
        ("roundText", ["4"], "Round 4"),
        ("roundText", ["Final"], "Final"),
        *(("roundText", [odd], "") for odd in ("?", "-", "")),
    ],
    "overlay/shown_figures.js": [
        ("placeOf", place("4.12", 12), "Round 4 · Board 12 · Open"),
        ("placeOf", place("4", 3), "Round 4 · Board 3 · Open"),
        ("placeOf", place("4.12", None), "Round 4.12 · Open"),
        ("placeOf", place("?", 2), "Board 2 · Open"),
        ("placeOf", place("", None), "Open"),
        # An event that is unknown, or only the pairing, is not told.
        (
            "placeOf",
            [{**PAIRED, "round": "4", "board": 3}, ENGLISH],
            "Round 4 · Board 3",
        ),
        (
            "placeOf",
            [{**HALL, "event": "?", "round": "4", "board": 3}, ENGLISH],
            "Round 4 · Board 3",
        ),
        ("pointsOf", ["*", "white"], ""),
        ("pointsOf", ["*", "black"], ""),
        ("pointsOf", ["1-0", "white"], "1"),
        ("pointsOf", ["1-0", "black"], "0"),
        ("pointsOf", ["1/2-1/2", "white"], "½"),
        ("pointsOf", ["1/2-1/2", "black"], "½"),
        ("pointsOf", ["0-1/2", "white"], "0"),
        ("pointsOf", ["0-1/2", "black"], "½"),
        (
            "openingText",
            [{"eco": "C65", "opening": "Ruy Lopez: Berlin"}],
            "C65 Ruy Lopez: Berlin",
        ),
        ("openingText", [{"eco": "", "opening": ""}], ""),
    ],
    "overlay/language/words.js": [
        *(
            ("counted", [COUNTING["en"], "moves", int(text.split()[0])], text)
            for text in ("1 move", "21 moves")
        ),
        *(
            ("counted", [COUNTING["ru"], "moves", int(text.split()[0])], text)
            for text in (
                "1 ход",
                "3 хода",
                "11 ходов",
                "13 ходов",
                "21 ход",
                "24 хода",
                "25 ходов",
            )
        ),
        ("localMove", ["Nbxd7+", GERMAN], "Sbxd7+"),
        ("localMove", ["e8=Q#", GERMAN], "e8=D#"),
        ("localMove", ["O-O", GERMAN], "O-O"),
        ("localMove", ["Kxe2", FRENCH], "Rxe2"),
        ("localMove", ["Kxe2", RUSSIAN], "Крxe2"),
        # No move: nothing in it is a piece.
        ("localMove", ["<b>Nf3</b>", GERMAN], "<b>Nf3</b>"),
        *(
            ("age", [{"locale": "de"}, seconds], said)
            for seconds, said in ((8, "8 Sek."), (180, "3 Min."), (7200, "2 Std."))
        ),
        # A value is filled in as it is.
        ("fill", ["Round {}", "$& {} $1"], "Round $& {} $1"),
    ],
    "page/board_panels.js": [
        # The limits are those of lichess: 5, 10 and 15 points of win percentage.
        ("moveMark", lost(-112, -112), mark("?", "mistake")),
        ("moveMark", lost(60, -60, "black"), mark("?!", "inaccuracy")),
        # What is lost in a decided position weighs little.
        ("moveMark", lost(900, -200), None),
        ("moveMark", lost(-170, -170), mark("??", "blunder")),
        ("moveMark", lost(30, None), None),
    ],
    "page/service_addresses.js": [
        # With an arbiter's token an overlay would show on air what is delayed or
        # hidden.
        *(
            (
                "overlayAddress",
                [page, sight, served_by_files, MOMENT],
                f"http://h/{address}",
            )
            for page, sight, served_by_files, address in (
                ("http://h/#game=old", "public", False, OVERLAY),
                ("http://h/?token=t", "public", False, f"{OVERLAY}&token=t"),
                ("http://h/?token=t", "arbiter", False, OVERLAY),
                (
                    "http://h/x/index.html#a",
                    "public",
                    True,
                    "x/overlay.html?game=g+1&ply=7",
                ),
            )
        )
    ],
    "page/health_view.js": [
        ("engineState", [EngineHealth(engines=BUSY, problem="no journal")], "live"),
        ("engineState", [EngineHealth(engines=BUSY)], "live"),
        (
            "engineState",
            [EngineHealth(engines=(*BUSY, EngineState(2, "failed")))],
            "retrying",
        ),
        ("engineState", [EngineHealth(engines=(EngineState(0, "failed"),))], "failed"),
        *(
            ("lateText", [delay], said)
            for delay, said in (
                (None, ""),
                ({"delay_s": 0}, ""),
                ({"delay_s": 900.0}, "The public sees boards 15:00 late"),
            )
        ),
    ],
}


def list_cases() -> Iterator[tuple[str, str, list[Any], Any]]:
    for module, cases in CASES.items():
        for case in cases:
            yield module, *case


@pytest.mark.parametrize(("module", "name", "args", "result"), list(list_cases()))
def test_it_answers(
    pages: Pages, module: str, name: str, args: list[Any], result: Any
) -> None:
    assert pages.run(module, name, *plain(args)) == result


def test_every_state_of_a_source_has_the_terminals_sign() -> None:
    styles = (static_files.OVERLAY / "app.css").read_text()
    for state, sign in FEED_SIGNS.items():
        assert f'[data-state="{state}"]::before {{ content: "\\{ord(sign):x}"' in styles
