"""The command ``live-rate match``."""

from typing import Literal

from live.commands.command_options import Ended
from live.errors import InputError


def match(
    results: list[str],
    *,
    first: str | None = None,
    elo0: float | None = None,
    elo1: float | None = None,
    alpha: float = 0.05,
    beta: float = 0.05,
    normalized: bool = False,
    json: str | None = None,
) -> Ended:
    """Evaluate a result: Elo difference, likelihood of superiority, SPRT. Needs no
    engine.

    Options:
        results: [WINS DRAWS LOSSES | PGN...] Three counts, or the games of a match.
        first: [NAME] Player whose wins are counted; else White of the first game.
        elo0: [ELO] SPRT: H0, Elo.
        elo1: [ELO] SPRT: H1, Elo.
        alpha: [P] SPRT: chance of accepting H1 if H0 is true.
        beta: [P] SPRT: chance of accepting H0 if H1 is true.
        normalized: SPRT in normalized Elo.
    """
    if (elo0 is None) != (elo1 is None):
        raise InputError("--elo0, --elo1", "a test needs both hypotheses", "Give both")
    from live.ratings.sprt import Sprt
    from live.studies.match_study import assess_match as match_results

    try:
        scale: Literal["normalized", "logistic"] = (
            "normalized" if normalized else "logistic"
        )
        bounds = elo0 is not None and elo1 is not None
        test = Sprt(elo0 or 0, elo1 or 0, alpha, beta, scale) if bounds else None
    except ValueError as error:
        raise InputError("SPRT", str(error), "See live-rate match --help") from None
    return match_results(results, test, first, json)
