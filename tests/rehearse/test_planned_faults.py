from itertools import islice

import pytest

from live.rehearse.rehearsal import BAD_CONNECTIONS, GOOD, connections, incidents
from tests.feeds.fakes import DATA, decode

GAMES = decode((DATA / "four-boards.pgn").read_bytes())


def test_without_a_seed_nothing_goes_wrong() -> None:
    assert list(islice(connections(None), 3)) == [GOOD] * 3
    assert incidents(None, GAMES) == []


@pytest.mark.parametrize("seed", range(20))
def test_a_seed_decides_everything_and_a_rehearsal_comes_to_its_end(seed: int) -> None:
    fates = list(islice(connections(seed), BAD_CONNECTIONS + 5))
    assert fates == list(islice(connections(seed), BAD_CONNECTIONS + 5))
    assert fates[0].refuse or fates[0].drop_after is not None or fates[0].stall_after is not None
    last = fates[BAD_CONNECTIONS]
    assert not last.refuse and last.drop_after is None and last.stall_after is None
    refusals = [fate.refuse for fate in fates].count(429)
    assert refusals <= 1, "each keeps a follower of lichess away for a minute"
    assert incidents(seed, GAMES) == incidents(seed, GAMES)
    for incident in incidents(seed, GAMES):
        assert 1 <= incident.ply <= len(GAMES[incident.game].moves)
