"""Perceived ratings by this project, for the players whose strengths the papers print.

The scales differ, so only the orders are compared.
"""

from collections import defaultdict
from functools import lru_cache, reduce

from live.ratings.model_choice import MODELS
from live.ratings.perceived_model import MoveReader
from live.ratings.perceived_rating import Evidence as PerceivedEvidence
from live.ratings.perceived_rating import read_rating
from live.studies.learning.followed_games import COLORS, follow_game
from live.studies.learning.played_games import PlayedSide, build_played_game
from live.studies.papers.comparison import Measured
from live.studies.papers.corpus_games import index_names_by_number
from live.studies.papers.measures import Evidence, Figures, list_occasion_games, measure
from live.studies.papers.printed import PrintedTable

#: Centipawns of an engine and limit per centipawn of the model, measured on the
#: reference positions. Other settings are not used: scores of Stockfish 15.1 with 2,000
#: nodes correlate with the model's at only 0.955.
SCALES = {
    ("Stockfish 19 Lite WASM Multithreaded", "100000 nodes"): 1.0,
    ("Stockfish 15.1", "20000 nodes"): 0.82,
}


@lru_cache(maxsize=2)
def _load_reader(scale: float) -> MoveReader:
    return MoveReader((MODELS.load("classical"),), scale)


@measure("perceived", games=list_occasion_games, gains=("same-search",))
def measure_perceived_ratings(table: PrintedTable, evidence: Evidence) -> Figures:
    """Return, for each occasion, the perceived ratings of the players who have an Elo,
    over their games of the occasion.
    """
    figures = {}
    for row in table.rows:
        ratings = _rate_occasion(evidence, row.at or table.at)
        figures[row.key] = ratings.get(row.one)
    return figures


@lru_cache(maxsize=64)
def _rate_occasion(evidence: Evidence, occasion: str) -> dict[str, Measured]:
    engine = evidence.setting.engine.partition(";")[0]
    scale = SCALES.get((engine, evidence.setting.bound))
    if scale is None or not evidence.has_enough_of(occasion):
        return {}
    reader = _load_reader(scale)
    names = index_names_by_number(evidence.find_people(occasion))
    totals: dict[str, list[PerceivedEvidence]] = defaultdict(list)
    for game, searched in evidence.read_searched_games(
        evidence.list_games_of_occasion(occasion)
    ):
        sides = [
            PlayedSide(names[player], elo, ())
            for player, elo in (
                (game.white, game.white_elo),
                (game.black, game.black_elo),
            )
            if player is not None
        ]
        played = build_played_game(
            sides, game.result, game.moves, searched.positions, evidence.gain
        )
        last = {
            move.color: move.total
            for move in follow_game(played, reader, reader.shared)
        }
        for color, side in zip(COLORS, sides, strict=True):
            if side.elo is not None and color in last:
                totals[side.player].append(last[color])
    ratings = {}
    for name, games in totals.items():
        total = reduce(PerceivedEvidence.join, games)._replace(
            kappa=reader.event_dispersion
        )
        rating = read_rating(total, reader.prior_sd)
        if rating is not None:
            ratings[name] = Measured(rating.rating, rating.low, rating.high)
    return ratings
