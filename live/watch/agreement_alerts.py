"""Alerts about players who choose the engine's move more often than forecast. Pure.

The alert is a screening result: it shows where to look, and states its sample size and
its rate of false alarms. It accuses nobody. The evidence is an e-value
(:mod:`live.ratings.agreement`), so it can be checked after every move without raising
the rate of false alarms. With n players watched, each one needs n times the evidence
(Bonferroni), so the share of fair events with any alert stays below the stated rate.
"""

from collections.abc import Iterator

from live.catalogue import round_percent
from live.messages.alerts import Agreement
from live.messages.figures import PlayerView
from live.ratings.agreement import FALSE_ALARMS, compute_alarm_threshold
from live.watch.finding import Finding
from live.watch.watched_board import WatchedBoard

#: Minimum number of a player's counted moves for an alert: people would not trust a
#: smaller sample, however strong the evidence.
LEAST_MOVES = 25


def find_engine_agreement(
    player: PlayerView, players: int, board: WatchedBoard | None
) -> Iterator[Finding]:
    """Yield an alert if a player agrees with the engine too often to be chance.

    Nothing is yielded if the player's choices could not be forecast for this engine.

    Args:
        player: the figures of the player.
        players: number of players watched.
        board: the board at which the player plays now, or played last.
    """
    if player.elo is None or player.agreement is None:
        return
    evidence = player.agreement
    moves = evidence.moves
    if moves < LEAST_MOVES or evidence.log_e_value < compute_alarm_threshold(players):
        return
    share = evidence.matches / moves
    expected = evidence.expected / moves
    boards = (players + 1) // 2
    deviation = (moves * expected * (1 - expected)) ** 0.5
    z = (evidence.matches - evidence.expected) / deviation
    label = f"{board.label}: " if board else ""
    yield Finding(
        kind="agreement",
        severity="look",
        about=player.id,
        player=player.name,
        game=board.view.id if board else None,
        text=(
            f"{label}{player.name} ({player.elo}) played the engine's "
            f"move in {evidence.matches} of {moves} choices "
            f"({round_percent(100 * share)}%); "
            f"{round_percent(100 * expected)}% were forecast, z = {z:.1f}."
        ),
        advice=(
            f"A screening figure that accuses nobody: with {boards} boards watched, at"
            f" most {FALSE_ALARMS:.0%} of events show one even if all play fair. Say"
            " nothing in the hall; examine the games afterwards,"
            " by the usual procedure."
        ),
        agreement=Agreement(
            moves=moves,
            share=round(share, 4),
            expected=round(expected, 4),
            z=round(z, 2),
            boards=boards,
            false_alarms=FALSE_ALARMS,
            rests_on="a forecast of each choice from position and Elo, and how far"
            " players and games usually differ from it",
        ),
    )
