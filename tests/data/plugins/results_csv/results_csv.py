"""The results of an event as CSV."""

import csv
import io

from live.events import SnapshotMessage


class ResultsCsv:
    """An export plugin."""

    media_type = "text/csv; charset=utf-8"

    def export(self, event: SnapshotMessage) -> bytes:
        """A row a game."""
        table = io.StringIO()
        rows = csv.writer(table)
        rows.writerow(["Round", "Board", "White", "Black", "Result"])
        for game in event.games:
            rows.writerow([game.round, game.board, game.white.name, game.black.name, game.result])
        return table.getvalue().encode()
