"""Sentences about moments, in each language of the screens. Pure.

Each sentence contains the figures of its moment and claims no more than they show.
Players appear with their family names, with an initial if two players share one.
"""

import re
from collections.abc import Iterable, Mapping

import msgspec

from live.catalogue import round_percent, write_elo
from live.games.game import side_of_ply
from live.games.short_names import isolate_direction, short_name
from live.messages.figures import GameDetail
from live.messages.moments import MomentText
from live.watch.localised_moves import find_best_move, localise, write_move
from live.watch.moment_draft import MomentDraft
from live.watch.sides import find_opponent_color
from live.watch.words import WORDS

#: Minimum expected score, in percent, at which a draw is not a surprise.
DRAWISH = 25.0


def format_result(result: str) -> str:
    """Return a result in typographic form: ``½–½``, ``1–0``."""
    return result.replace("1/2", "½").replace("-", "–")


def write_sentences(
    draft: MomentDraft, game: GameDetail, namesakes: Iterable[str] = ()
) -> MomentText:
    """Return the sentences about a moment, one in each language.

    ``namesakes`` are the names of players who might share a family name with a player
    of the game. A player with a shared family name gets an initial.
    """
    kind: str = draft.kind
    if kind == "comeback" and game.result == "1/2-1/2":
        kind = "comeback-drawn"
    # A "missed" moment has the ply of the reply that missed a chance. Its sentence is
    # about the move before the reply, which gave the chance.
    about = draft.ply - (draft.kind == "missed")
    best = _find_better(draft, game)
    added = _choose_added(draft, game, best)
    names = _name_players(draft, game, about, namesakes)
    figures = {
        name: _write_figure(name, value) for name, value in draft.figures.items()
    }
    sentences = {}
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
        sentences[language] = "".join(_fill_sentence(part, holes) for part in parts)
    sentences["it"] = _ELIDED.sub(
        lambda elided: _BEFORE_VOWELS[elided[1]], sentences["it"]
    )
    return msgspec.convert(sentences, MomentText)


def _name_players(
    draft: MomentDraft, game: GameDetail, about: int, namesakes: Iterable[str]
) -> dict[str, str]:
    """Return the names of the players and the result, by placeholder."""
    color = draft.color or (side_of_ply(game, about) if about else "white")
    players = {"white": game.white.name, "black": game.black.name}
    all_names = (*namesakes, *players.values())
    names = {
        placeholder: isolate_direction(short_name(name, all_names))
        for placeholder, name in players.items()
    }
    result = format_result(game.result)
    return {
        **names,
        "who": names[color],
        "rival": names[find_opponent_color(color)],
        "result": result,
    }


def _find_better(draft: MomentDraft, game: GameDetail) -> str | None:
    """Return the better move that a sentence can mention, in SAN; None if there is
    none.
    """
    if draft.kind not in ("turn", "missed"):
        return None
    return find_best_move(game, draft.ply)


def _choose_added(draft: MomentDraft, game: GameDetail, best: str | None) -> set[str]:
    """Return the keys of the phrases that are added after the sentence.

    They depend on the figures of the moment and on the game.
    """
    added = set(draft.figures)
    if best is not None:
        added.add("best")
    # Sentences about how well a player played share one explanation.
    if draft.kind in ("above", "highest", "lowest"):
        added.add("above")
    is_drawn = draft.kind == "turn" and game.result == "1/2-1/2"
    if is_drawn and draft.figures["after"] < DRAWISH:
        added.add("drawn")
    return added


#: Italian articles and prepositions that lose their vowel before 8, 11 and 80 to 89
#: percent: `l’8 %`, `dall’80 %`.
_ELIDED = re.compile(r"\b(il|al|dal|del|nel) (?=(?:8\d?|11)\u00a0%)")
_BEFORE_VOWELS = {
    "il": "l’",
    "al": "all’",
    "dal": "dall’",
    "del": "dell’",
    "nel": "nell’",
}


def _fill_sentence(text: str, holes: Mapping[str, str]) -> str:
    # A no-break space keeps a number and its percent sign on one line.
    whole = text.replace(" %", "\u00a0%")
    # All placeholders are filled in one pass, since names can contain braces.
    filled = re.sub(r"\{(\w+)\}", lambda placeholder: holes[placeholder[1]], whole)
    # A name that ends with an initial already provides the full stop.
    return filled[:-1] if filled.endswith("..") else filled


#: Figures in percent. The text shows 0 and 100 only for exact values.
_SHARES = ("share", "lowest", "before", "after", "reply", "highest", "chance", "score")
#: Percentiles, written as 1 to 99, because no player is better than all others or worse
#: than all others.
_PERCENTILES = ("percentile", "first", "second")


def _write_figure(name: str, value: float) -> str:
    """Return a figure as text for people.

    It is a whole number, except for pawns and clocks below ten seconds.
    """
    if name in _SHARES and 0 <= value < 0.5:
        return "<1"
    if name in _SHARES and 99.5 <= value < 100:
        return ">99"
    if name in _PERCENTILES:
        value = max(1.0, min(value, 99.0))
    if name in ("perceived", "rival_perceived"):
        return write_elo(value)
    if name in _SHARES or name in _PERCENTILES:
        return str(round_percent(value))
    if name == "pawns" or (name == "clock" and value < 10):
        return f"{value:.1f}"
    return f"{value:.0f}"
