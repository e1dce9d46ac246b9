"""Moments in words: one sentence in each language of the overlays. Pure.

No sentence says more than its figures carry, and each says them. Names are the family names, with
an initial where two share one; a move is written with the letters of the language.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

import chess
import msgspec

from live.catalogue import elo_text
from live.events import GameDetail, MomentKind, MomentText
from live.games.game import move_number, mover
from live.games.player_identity import isolated, short_name
from live.story.moment_rules import MomentDraft, other

#: Letters of king, queen, rook, bishop and knight; as live/web/overlay/language/words.js.
LETTERS = {
    "en": "K Q R B N",
    "de": "K D T L S",
    "fr": "R D T F C",
    "es": "R D T A C",
    "it": "R D T A C",
    "ru": "Кр Ф Л С К",
}

#: In each language, in the order of :data:`LETTERS`. `{who}` and `{rival}` are players, `{white}`
#: and `{black}` too; `{move}` and `{reply}` moves. A sentence stands alone, and after the name of
#: its kind (live/web/overlay/language), which it does not say again.
SENTENCES: dict[MomentKind, tuple[str, ...]] = {
    "find": (
        "{who} plays {move}: about {share} % of players rated {elo} would.",
        "{who} spielt {move}: das täten etwa {share} % mit Elo {elo}.",
        "{who} joue {move} : environ {share} % des joueurs à {elo} Elo le feraient.",
        "{who} juega {move}: lo haría cerca del {share} % con Elo {elo}.",
        "{who} gioca {move}: lo farebbe circa il {share} % con Elo {elo}.",
        "{who} играет {move}: так поступают примерно {share} % с Эло {elo}.",
    ),
    "trap": (
        "After {move} by {who} about {chance} % of players rated {elo} would err.",
        "Nach {move} von {who} irren sich etwa {chance} % mit Elo {elo}.",
        "Après {move} de {who}, environ {chance} % à {elo} Elo se trompent.",
        "Tras {move} de {who} falla cerca del {chance} % con Elo {elo}.",
        "Dopo {move} di {who} sbaglia circa il {chance} % con Elo {elo}.",
        "После {move} ({who}) ошибаются примерно {chance} % с Эло {elo}.",
    ),
    "turn": (
        "{who} falls from {before} % to {after} % expected score with {move}.",
        "{who} fällt mit {move} von {before} % auf {after} % Erwartung.",
        "{who} tombe de {before} % à {after} % de score attendu avec {move}.",
        "{who} cae del {before} % al {after} % de esperanza con {move}.",
        "{who} scende dal {before} % al {after} % di attesa con {move}.",
        "{who} ходом {move} падает с {before} % до {after} % ожидания.",
    ),
    "missed": (
        "{who} fell from {before} % to {after} % by {move}, and {rival} let it go with {reply}.",
        (
            "{who} fiel durch {move} von {before} % auf {after} %, und {rival} ließ es mit "
            "{reply} zu."
        ),
        (
            "{who} tombait de {before} % à {after} % par {move} ; {rival} l’a laissé "
            "passer avec {reply}."
        ),
        "{who} cayó del {before} % al {after} % con {move}, y {rival} lo dejó pasar con {reply}.",
        (
            "{who} scendeva dal {before} % al {after} % con {move}; {rival} ha lasciato "
            "correre con {reply}."
        ),
        "{who} ходом {move} упал(а) с {before} % до {after} %, но {rival} отвечает {reply}.",
    ),
    "scramble": (
        "{who} has {clock} s left at {move}, and the game is open.",
        "{who} hat bei {move} noch {clock} s, und die Partie ist offen.",
        "Il reste {clock} s à {who} à {move}, et la partie est ouverte.",
        "A {who} le quedan {clock} s en {move}, y la partida está abierta.",
        "A {who} restano {clock} s a {move}, e la partita è aperta.",
        "У {who} на ходу {move} осталось {clock} с, и партия не решена.",
    ),
    "comeback": (
        "{who} did not lose: the expected score had been down to {lowest} %.",
        "{who} verlor nicht: die Erwartung war bis auf {lowest} % gefallen.",
        "{who} n’a pas perdu : le score attendu était tombé à {lowest} %.",
        "{who} no perdió: la esperanza había bajado al {lowest} %.",
        "{who} non ha perso: l’attesa era scesa al {lowest} %.",
        "{who} не проигрывает: ожидание падало до {lowest} %.",
    ),
    "upset-coming": (
        "{who}, rated {gap} Elo lower, is expected to score {score} %.",
        "{who}, {gap} Elo schwächer, hat eine Erwartung von {score} %.",
        "{who}, {gap} Elo de moins : score attendu {score} %.",
        "{who}, con {gap} Elo menos, tiene una esperanza del {score} %.",
        "{who}, {gap} Elo in meno, ha un’attesa del {score} %.",
        "У {who} (Эло на {gap} ниже) ожидание {score} %.",
    ),
    "upset": (
        "{who}, rated {gap} Elo lower, beats {rival}.",
        "{who}, {gap} Elo schwächer, schlägt {rival}.",
        "{who}, {gap} Elo de moins, bat {rival}.",
        "{who}, con {gap} Elo menos, gana a {rival}.",
        "{who}, {gap} Elo in meno, batte {rival}.",
        "{who} (Эло на {gap} ниже) побеждает; соперник — {rival}.",
    ),
    "above": (
        (
            "{who}, rated {elo}, played like {perceived} over {moves} moves: better than "
            "{percentile} % of games by players of that rating."
        ),
        (
            "{who}, Elo {elo}, spielte über {moves} Züge wie {perceived}: besser als "
            "{percentile} % der Partien von Spielern mit dieser Elo."
        ),
        (
            "{who}, {elo} Elo, a joué comme {perceived} sur {moves} coups : mieux que "
            "{percentile} % des parties de joueurs de ce niveau."
        ),
        (
            "{who}, Elo {elo}, jugó como {perceived} en {moves} jugadas: mejor que el "
            "{percentile} % de las partidas de jugadores con ese Elo."
        ),
        (
            "{who}, Elo {elo}, ha giocato come {perceived} in {moves} mosse: meglio del "
            "{percentile} % delle partite di giocatori con quell’Elo."
        ),
        (
            "{who} (Эло {elo}) сыграл(а) как {perceived}, учтено ходов: {moves}; лучше, чем "
            "{percentile} % партий игроков с таким Эло."
        ),
    ),
    "despite": (
        "{who} wins, playing like {perceived}; {rival} played like {rival_perceived}.",
        "{who} gewinnt und spielte wie {perceived}; {rival} spielte wie {rival_perceived}.",
        "{who} gagne en jouant comme {perceived} ; {rival} a joué comme {rival_perceived}.",
        "{who} gana jugando como {perceived}; {rival} jugó como {rival_perceived}.",
        "{who} vince giocando come {perceived}; {rival} ha giocato come {rival_perceived}.",
        "{who} побеждает, играя как {perceived}; {rival} — как {rival_perceived}.",
    ),
    "best-played": (
        (
            "No game of the round from 20 moves on was played better: {white} better than in "
            "{first} %, {black} better than in {second} % of games at their Elo."
        ),
        (
            "Keine Partie der Runde ab 20 Zügen wurde besser gespielt: {white} besser als in "
            "{first} %, {black} besser als in {second} % der Partien bei ihrer Elo."
        ),
        (
            "Aucune partie de la ronde, dès 20 coups, n’a été mieux jouée : {white} mieux que dans "
            "{first} %, {black} mieux que dans {second} % des parties à leur Elo."
        ),
        (
            "Ninguna partida de la ronda, desde 20 jugadas, se jugó mejor: {white} mejor que en el "
            "{first} %, {black} mejor que en el {second} % de las partidas con su Elo."
        ),
        (
            "Nessuna partita del turno da 20 mosse in su è stata giocata meglio: {white} meglio "
            "che nel {first} %, {black} meglio che nel {second} % delle partite al loro Elo."
        ),
        (
            "Ни одна партия тура от 20 ходов не сыграна лучше: {white} лучше, чем в {first} %, "
            "{black} лучше, чем в {second} % партий при их Эло."
        ),
    ),
    "wildest": (
        "No game of the round had more ups and downs than {white} – {black} ({result}).",
        "Keine Partie der Runde schwankte stärker als {white} – {black} ({result}).",
        (
            "Aucune partie de la ronde n’a connu plus de rebondissements que {white} – {black} "
            "({result})."
        ),
        "Ninguna partida de la ronda tuvo más altibajos que {white} – {black} ({result}).",
        "Nessuna partita del turno ha avuto più alti e bassi di {white} – {black} ({result}).",
        "Ни в одной партии тура не было больше взлётов и падений: {white} – {black} ({result}).",
    ),
    "highest": (
        (
            "{who}, rated {elo}, played like {perceived}: better than {percentile} % of games at "
            "that rating, the most of the round from 15 moves on."
        ),
        (
            "{who}, Elo {elo}, spielte wie {perceived}: besser als {percentile} % der Partien bei "
            "dieser Elo, der höchste Wert der Runde ab 15 Zügen."
        ),
        (
            "{who}, {elo} Elo, a joué comme {perceived} : mieux que {percentile} % des parties à "
            "ce niveau, le plus de la ronde dès 15 coups."
        ),
        (
            "{who}, Elo {elo}, jugó como {perceived}: mejor que el {percentile} % de las partidas "
            "con ese Elo, lo más alto de la ronda desde 15 jugadas."
        ),
        (
            "{who}, Elo {elo}, ha giocato come {perceived}: meglio del {percentile} % delle "
            "partite con quell’Elo, il massimo del turno da 15 mosse in su."
        ),
        (
            "{who} (Эло {elo}) сыграл(а) как {perceived}: лучше, чем {percentile} % партий с таким "
            "Эло, — высшее значение тура от 15 ходов."
        ),
    ),
    "lowest": (
        (
            "{who}, rated {elo}, played like {perceived}: better than {percentile} % of games at "
            "that rating, the least of the round from 15 moves on."
        ),
        (
            "{who}, Elo {elo}, spielte wie {perceived}: besser als {percentile} % der Partien bei "
            "dieser Elo, der niedrigste Wert der Runde ab 15 Zügen."
        ),
        (
            "{who}, {elo} Elo, a joué comme {perceived} : mieux que {percentile} % des parties à "
            "ce niveau, le moins de la ronde dès 15 coups."
        ),
        (
            "{who}, Elo {elo}, jugó como {perceived}: mejor que el {percentile} % de las partidas "
            "con ese Elo, lo más bajo de la ronda desde 15 jugadas."
        ),
        (
            "{who}, Elo {elo}, ha giocato come {perceived}: meglio del {percentile} % delle "
            "partite con quell’Elo, il minimo del turno da 15 mosse in su."
        ),
        (
            "{who} (Эло {elo}) сыграл(а) как {perceived}: лучше, чем {percentile} % партий с таким "
            "Эло, — низшее значение тура от 15 ходов."
        ),
    ),
}

#: What may follow a sentence, in the same order.
ADDED: dict[str, tuple[str, ...]] = {
    "best": (
        " Best was {best}.",
        " Am besten war {best}.",
        " Le meilleur était {best}.",
        " Lo mejor era {best}.",
        " La migliore era {best}.",
        " Лучше было {best}.",
    ),
    # What a move cost, where the ratings say little.
    "pawns": (
        " The move cost {pawns} pawns.",
        " Der Zug kostete {pawns} Bauern.",
        " Le coup a coûté {pawns} pions.",
        " La jugada costó {pawns} peones.",
        " La mossa è costata {pawns} pedoni.",
        " Ход стоил {pawns} пешки.",
    ),
    # Of an upset that no single move decided: by which its loser lost most.
    "costliest": (
        " What cost most was {costliest}.",
        " Am meisten kostete {costliest}.",
        " Le coup le plus coûteux : {costliest}.",
        " Lo más caro fue {costliest}.",
        " La mossa più cara: {costliest}.",
        " Дороже всего обошёлся ход {costliest}.",
    ),
    # Of a winner whose figure is below the loser's: what decided.
    "mistake": (
        " The last mistake was {mistake}.",
        " Der letzte Fehler war {mistake}.",
        " La dernière erreur fut {mistake}.",
        " El último error fue {mistake}.",
        " L’ultimo errore è stato {mistake}.",
        " Последняя ошибка — {mistake}.",
    ),
    # Of a turn from which its mover never recovered: the most that was expected from then on.
    "highest": (
        " From then on it was {highest} % at most.",
        " Danach waren es höchstens {highest} %.",
        " Ensuite, jamais plus de {highest} %.",
        " Desde entonces, nunca más del {highest} %.",
        " Da lì in poi mai più del {highest} %.",
        " Далее — не более {highest} %.",
    ),
    # Of a turn that is told before the reply has its score.
    "open": (
        " What the reply makes of it is not known yet.",
        " Was die Antwort daraus macht, ist noch offen.",
        " Reste à voir ce qu’en fera la réponse.",
        " Falta ver qué hará de ello la respuesta.",
        " Resta da vedere che cosa ne farà la risposta.",
        " Что даст ответ, пока неизвестно.",
    ),
    # Of a turn that left its mover less than half of what a draw is worth, in a drawn game.
    "drawn": (
        " The game was drawn all the same.",
        " Die Partie endete trotzdem remis.",
        " La partie s’est tout de même terminée par la nulle.",
        " Aun así, la partida acabó en tablas.",
        " La partita è finita comunque patta.",
        " Тем не менее партия закончилась вничью.",
    ),
    # Of who played better than nearly all, or is named as the best or the last of a round: wherever
    # the sentence goes, this goes with it.
    "above": (
        " Every player has such games.",
        " Solche Partien hat jeder.",
        " Chacun a de telles parties.",
        " Todos tienen partidas así.",
        " Tutti hanno partite così.",
        " Такие партии бывают у каждого.",
    ),
}


def result_text(result: str) -> str:
    """Return a result as it is printed: ``½–½`` for a draw, ``1–0``."""
    return result.replace("1/2", "½").replace("-", "–")


def move_text(game: GameDetail, ply: int, language: str) -> str:
    """`26… Td8`: a move of the game with its number, in the letters of a language."""
    if not 1 <= ply <= len(game.plies):
        return "?"
    number, white = move_number(game, ply)
    return f"{number}{'.' if white else '…'}\u00a0{localised(game.plies[ply - 1].san, language)}"


def move_texts(game: GameDetail, ply: int) -> MomentText:
    """Return a move with its number in the letters of each language."""
    texts = {language: move_text(game, ply, language) for language in LETTERS}
    return msgspec.convert(texts, MomentText)


def localised(san: str, language: str) -> str:
    """A move in the letters of a language. What is no move (feeds are not trusted) stays."""
    if not re.fullmatch(r"[KQRBN]?[a-h1-8x=QRBN+#]+", san):
        return san
    letters = LETTERS[language].split()
    return re.sub("[KQRBN]", lambda found: letters["KQRBN".index(found[0])], san)


def best_move(game: GameDetail, ply: int) -> str | None:
    """The engine's first choice before a ply in SAN; None where it was played or is not known."""
    view = game.plies[ply - 1]
    if view.best is None or view.best == view.uci:
        return None
    moves = tuple(each.uci for each in game.plies[: ply - 1])
    return _san(game.start_fen, game.variant == "chess960", moves, view.best)


@lru_cache(maxsize=512)
def _san(start_fen: str, chess960: bool, moves: tuple[str, ...], uci: str) -> str | None:
    """Kept: all moments of a game are worded anew at each news of it."""
    try:
        board = chess.Board(start_fen, chess960=chess960)
        for each in moves:
            board.push_uci(each)
        return board.san(board.parse_uci(uci))
    except ValueError:
        return None


def sentences(draft: MomentDraft, game: GameDetail, others: Iterable[str] = ()) -> MomentText:
    """A draft in words, in each language; its players are told from ``others`` by their names."""
    # What was missed is told of the move before, which its mover made; its own is the reply.
    about = draft.ply - (draft.kind == "missed")
    color = draft.color or (mover(game, about) if about else "white")
    players = {"white": game.white.name, "black": game.black.name}
    known = (*others, *players.values())
    names = {each: isolated(short_name(name, known)) for each, name in players.items()}
    words = {name: _figure(name, value) for name, value in draft.figures.items()}
    words["result"] = result_text(game.result)
    words |= {**names, "who": names[color], "rival": names[other(color)]}
    drawn = game.result == "1/2-1/2" and draft.figures.get("after", 50.0) < 25.0
    best = best_move(game, draft.ply) if draft.kind in ("turn", "missed") else None
    is_compared = draft.kind in ("above", "highest", "lowest")
    holds = {"best": best, "drawn": drawn and draft.kind == "turn", "above": is_compared}
    parts = [SENTENCES[draft.kind]]
    parts += [text for name, text in ADDED.items() if holds.get(name, name in draft.figures)]
    said = {}
    for at, language in enumerate(LETTERS):
        point = "." if language == "en" else ","
        own = {name: words[name].replace(".", point) for name in draft.figures}
        own |= {
            "move": move_text(game, about, language),
            "reply": move_text(game, about + 1, language),
            "best": localised(best or "", language),
            "costliest": move_text(game, int(draft.figures.get("costliest", 0)), language),
            "mistake": move_text(game, int(draft.figures.get("mistake", 0)), language),
        }
        # Names are not looked into for holes: they may hold braces.
        said[language] = "".join(_filled(each[at], words | own) for each in parts)
    said["it"] = _ELIDED.sub(lambda found: _BEFORE_VOWELS[found[1]], said["it"])
    return msgspec.convert(said, MomentText)


#: Before eight, eleven and eighty an Italian article loses its vowel: `l’8 %`, `dall’80 %`.
_ELIDED = re.compile(r"\b(il|al|dal|del|nel) (?=(?:8\d?|11)\u00a0%)")
_BEFORE_VOWELS = {"il": "l’", **{each: f"{each}l’" for each in ("al", "dal", "del", "nel")}}


def _filled(text: str, words: dict[str, str]) -> str:
    # A figure and its sign stay in one line.
    whole = text.replace(" %", "\u00a0%")
    filled = re.sub(r"\{(\w+)\}", lambda found: words[found[1]], whole)
    # An initial at the end has its point already.
    return filled[:-1] if filled.endswith("..") else filled


#: Of a hundred, of which none and all are told only where it is so.
_SHARES = ("share", "lowest", "before", "after", "reply", "highest", "chance", "score")
#: Better than so many of a hundred; nobody is better than all, or than none.
_PERCENTILES = ("percentile", "first", "second")


def _figure(name: str, value: float) -> str:
    """As people read it: whole, but for points and small shares and clocks."""
    if name in _SHARES and 0 <= value < 0.5:
        return "<1"
    if name in _SHARES and 99.5 <= value < 100:
        return ">99"
    if name in _PERCENTILES:
        value = max(1.0, min(value, 99.0))
    if name in ("perceived", "rival_perceived"):
        return elo_text(value)
    if name in ("points", "pawns") or (name == "clock" and value < 10):
        return f"{value:.1f}"
    return f"{value:.0f}"
