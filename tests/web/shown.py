"""What the page at ``/`` shows, read from it, and what it must show, worked out from the service's
own HTTP answers.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

from live.catalogue import EARLY_MOVES

UNBROKEN_DASH = "\u2060–\u2060"

#: What the cards say, in the order of the page.
CARDS = """
[...document.querySelectorAll(".card")].map((card) => {
  const text = (selector) => [...card.querySelectorAll(selector)].map((node) => node.textContent);
  const [black, white] = text(".name .family");
  const [blackRating, whiteRating] = text(".rating");
  const [blackInterval, whiteInterval] = text(".interval");
  const [blackName, whiteName] = text(".figure-name");
  const [blackOther, whiteOther] = text(".other");
  const [blackClock, whiteClock] = [...card.querySelectorAll(".clock")].map((node) =>
    node.textContent && node.classList.contains("running") ? "runs" : node.textContent);
  return { white, black, whiteRating, blackRating, whiteInterval, blackInterval,
           whiteName, blackName, whiteOther, blackOther, whiteClock, blackClock,
           move: text(".move")[0], score: text(".score")[0], result: text(".result")[0] };
})
"""

#: The rows of a table, without headings.
ROWS = """
((table) => [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.innerText)))
"""

#: One board in depth.
BOARD = """
((view) => ({
  moves: [...view.querySelectorAll(".turns .move-cell")].map((cell) => [
    cell.querySelector(".san").textContent, cell.querySelector(".gain").textContent,
    cell.querySelector(".score").textContent]),
  ratings: [...view.querySelectorAll(".rating-line.large .value")].map((value) => value.innerText),
  now: view.querySelector(".now").textContent,
  current: view.querySelector("[aria-current=step]")?.querySelector(".san")?.textContent ?? "Start",
}))(document.querySelector(".board-view"))
"""


def whole(value: float) -> str:
    """As JavaScript rounds: halves up."""
    return str(math.floor(value + 0.5))


def figure(view: dict[str, Any]) -> tuple[str, str]:
    """The perceived rating of a point or a player, and what is usual."""
    if view["perceived"] is None:
        return "–", ""
    ends = (view["usual_low"], view["usual_high"])
    return whole(view["perceived"]), "" if None in ends else "–".join(map(whole, ends))


def ratings(game: dict[str, Any], color: str) -> dict[str, str]:
    """What the card of a game says of a side's play."""
    curve, own = game["curves"][color], game[color]["elo"]
    other = game["black" if color == "white" else "white"]["elo"]
    if not curve or curve[-1]["perceived"] is None:
        why = "nothing reads these scores" if curve else "no move rated yet"
        return {"Rating": "–", "Interval": why, "Name": "", "Other": ""}
    point = curve[-1]
    value, band = figure(point)
    far = own and other and abs(own - other) > 400
    counted = "1 move" if point["counted"] == 1 else f"{point['counted']} moves"
    unbroken = counted.replace(" ", "\u00a0")
    early = point["counted"] < EARLY_MOVES
    place = "" if point["percentile"] is None else whole(min(max(point["percentile"], 1.0), 99.0))
    better = f"better than {place}\u00a0% of such games · " if place and own else ""
    if news := leap(game, color):
        better = f"{news} · "
    played = [ply for ply in game["plies"] if (ply["ply"] % 2 == 1) == (color == "white")]
    final = game["result"] != "*" and played[-1]["ply"] <= point["ply"]
    usual = f"usual for {own}" + (f" against {other}" if far else "")
    return {
        "Rating": value,
        "Interval": f"{usual}: {band.replace('–', UNBROKEN_DASH)}" if band and own else "",
        "Name": "played like" if final else "playing like",
        "Other": f"early · {counted}" if early else f"{better}{unbroken}",
    }


def leap(game: dict[str, Any], color: str) -> str:
    """Which of a side's last three moves moved its figure by 60 or more, the newest."""
    points = game["curves"][color]
    said = ""
    for before, after in itertools.pairwise(points[-4:]):
        if before["counted"] >= EARLY_MOVES and abs(after["perceived"] - before["perceived"]) >= 60:
            by = int(whole(after["perceived"])) - int(whole(before["perceived"]))
            move = move_text(game["plies"][after["ply"] - 1])
            said = f"{'fell' if by < 0 else 'rose'} {abs(by)} with {move}"
    return said


def score_text(cp: int | None, mate: int | None) -> str:
    if cp is None:
        return ""
    sign = "−" if cp < 0 else "+" if cp > 0 else ""
    if mate is not None:
        return f"{'−' if cp < 0 else ''}#{abs(mate)}"
    return f"{sign}{abs(cp) / 100:.2f}"


def clock(game: dict[str, Any], white: bool) -> str:
    """After the side's last move; ``runs`` if it is the one that runs since."""
    told = _told_clock(game, white)
    runs = game["result"] == "*" and white == (len(game["plies"]) % 2 == 0)
    return "runs" if told and runs else told


def _told_clock(game: dict[str, Any], white: bool) -> str:
    for ply in reversed(game["plies"]):
        if (ply["ply"] % 2 == 1) == white:
            if ply["clock_s"] is None:
                return ""
            seconds = int(ply["clock_s"])
            if ply["clock_s"] < 10:
                return f"{ply['clock_s']:.1f}"
            hours, minutes = seconds // 3600, seconds // 60 % 60
            rest = f"{seconds % 60:02}"
            return f"{hours}:{minutes:02}:{rest}" if hours else f"{minutes}:{rest}"
    return ""


def move_text(ply: dict[str, Any]) -> str:
    number = ply["ply"]
    return f"{(number + 1) // 2}{'.' if number % 2 else '…'}\u00a0{ply['san']}"


def card(game: dict[str, Any]) -> dict[str, Any]:
    """What the card of a game (``GameDetail`` as JSON) must say."""
    plies = game["plies"]
    scored = [ply for ply in plies if ply["score_cp"] is not None]
    cp, mate, provisional = game["start_score_cp"], None, bool(plies)
    if scored:
        cp, mate = scored[-1]["score_cp"], scored[-1]["mate"]
        provisional = not scored[-1]["final"] or scored[-1] is not plies[-1]
    text = score_text(cp, mate)
    shown: dict[str, Any] = {
        "move": move_text(plies[-1]) if plies else "not started",
        "score": f"{text} …" if text and provisional else text,
        "result": {"*": "", "1-0": "1–0", "0-1": "0–1", "1/2-1/2": "½–½"}[game["result"]],
    }
    for color in ("white", "black"):
        said = {f"{color}{name}": text for name, text in ratings(game, color).items()}
        shown |= {
            color: game[color]["name"] or "?",
            **said,
            f"{color}Clock": clock(game, color == "white"),
        }
    return shown


def gain_text(gain: int | None) -> str:
    if gain is None or gain == 0:
        return "" if gain is None else "0"
    return f"{'−' if gain < 0 else '+'}{abs(gain) / 100:.2f}"


def move_list(game: dict[str, Any]) -> list[list[str]]:
    """The moves as the page of one board lists them."""
    return [
        [
            move_text(ply) if ply["ply"] % 2 else ply["san"],
            gain_text(ply["gain_cp"]),
            score_text(ply["score_cp"], ply["mate"]),
        ]
        for ply in game["plies"]
    ]
