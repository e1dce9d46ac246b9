"""Moments in words: one sentence in each language of the screens. Pure.

No sentence says more than its figures carry, and each says them. Names are the family
names, with an initial where two share one.
"""

import re
from collections.abc import Iterable, Mapping

import msgspec

from live.catalogue import elo_text
from live.games.game import side_of_ply
from live.games.short_names import isolate_direction, short_name
from live.messages.figures import GameDetail
from live.messages.moments import MomentText
from live.watch.expected_scores import other
from live.watch.localised_moves import find_best_move, localise, write_move
from live.watch.moment_draft import MomentDraft
from live.watch.words import WORDS

#: Expected score in 100 from which a draw is nothing to wonder at.
DRAWISH = 25.0


def format_result(result: str) -> str:
    """Return a result as it is printed: ``½–½`` for a draw, ``1–0``."""
    return result.replace("1/2", "½").replace("-", "–")


def write_sentences(
    draft: MomentDraft, game: GameDetail, others: Iterable[str] = ()
) -> MomentText:
    """Word a draft in each language; its players are told from ``others`` by their
    names.
    """
    kind: str = draft.kind
    if kind == "comeback" and game.result == "1/2-1/2":
        kind = "comeback-drawn"
    # What was missed is told of the move before, which its mover made; its own is the
    # reply.
    about = draft.ply - (draft.kind == "missed")
    best = _find_better(draft, game)
    added = _choose_added(draft, game, best)
    names = _name_players(draft, game, about, others)
    figures = {
        name: _write_figure(name, value) for name, value in draft.figures.items()
    }
    said = {}
    for language, words in WORDS.items():
        point = "." if language == "en" else ","
        holes = {name: text.replace(".", point) for name, text in figures.items()}
        holes |= names
        holes["move"] = write_move(game, about, language)
        holes["reply"] = write_move(game, about + 1, language)
        holes["best"] = localise(best or "", language)
        for name in ("costliest", "mistake"):
            ply = int(draft.figures.get(name, 0))
            holes[name] = write_move(game, ply, language)
        parts = [words.moments[kind]]
        parts += [text for name, text in words.added.items() if name in added]
        said[language] = "".join(_fill(part, holes) for part in parts)
    said["it"] = _ELIDED.sub(lambda found: _BEFORE_VOWELS[found[1]], said["it"])
    return msgspec.convert(said, MomentText)


def _name_players(
    draft: MomentDraft, game: GameDetail, about: int, others: Iterable[str]
) -> dict[str, str]:
    """Return what stands for players and result in a sentence."""
    color = draft.color or (side_of_ply(game, about) if about else "white")
    players = {"white": game.white.name, "black": game.black.name}
    known = (*others, *players.values())
    names = {
        each: isolate_direction(short_name(name, known))
        for each, name in players.items()
    }
    result = format_result(game.result)
    return {
        **names,
        "who": names[color],
        "rival": names[other(color)],
        "result": result,
    }


def _find_better(draft: MomentDraft, game: GameDetail) -> str | None:
    """Return what should have been played instead, in SAN."""
    if draft.kind not in ("turn", "missed"):
        return None
    return find_best_move(game, draft.ply)


def _choose_added(draft: MomentDraft, game: GameDetail, best: str | None) -> set[str]:
    """Return what follows the sentence: what its figures name, what the game says."""
    added = set(draft.figures)
    if best is not None:
        added.add("best")
    # Wherever a sentence goes that says how well somebody played, this goes with it.
    if draft.kind in ("above", "highest", "lowest"):
        added.add("above")
    is_drawn = draft.kind == "turn" and game.result == "1/2-1/2"
    if is_drawn and draft.figures["after"] < DRAWISH:
        added.add("drawn")
    return added


#: Before eight, eleven and eighty an Italian article loses its vowel: `l’8 %`, `dall’80
#: %`.
_ELIDED = re.compile(r"\b(il|al|dal|del|nel) (?=(?:8\d?|11)\u00a0%)")
_BEFORE_VOWELS = {
    "il": "l’",
    "al": "all’",
    "dal": "dall’",
    "del": "dell’",
    "nel": "nell’",
}


def _fill(text: str, holes: Mapping[str, str]) -> str:
    # A figure and its sign stay in one line.
    whole = text.replace(" %", "\u00a0%")
    # In one pass, since names may hold braces.
    filled = re.sub(r"\{(\w+)\}", lambda found: holes[found[1]], whole)
    # An initial at the end has its point already.
    return filled[:-1] if filled.endswith("..") else filled


#: Of a hundred, of which none and all are told only where it is so.
_SHARES = ("share", "lowest", "before", "after", "reply", "highest", "chance", "score")
#: Better than so many of a hundred; nobody is better than all, or than none.
_PERCENTILES = ("percentile", "first", "second")


def _write_figure(name: str, value: float) -> str:
    """Write a figure as people read it: whole, but for pawns and short clocks."""
    if name in _SHARES and 0 <= value < 0.5:
        return "<1"
    if name in _SHARES and 99.5 <= value < 100:
        return ">99"
    if name in _PERCENTILES:
        value = max(1.0, min(value, 99.0))
    if name in ("perceived", "rival_perceived"):
        return elo_text(value)
    if name == "pawns" or (name == "clock" and value < 10):
        return f"{value:.1f}"
    return f"{value:.0f}"
