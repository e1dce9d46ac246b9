"""A short run of what :mod:`tests.fuzz.run` does for hours, and everything it ever
found.
"""

from random import Random

import pytest

from tests.fuzz.mutation import Target, mutate, try_input
from tests.fuzz.run import TARGETS

BY_NAME = {target.name: target for target in TARGETS}
#: Some inputs cost a file or a service each.
EXAMPLES = {"journal": 5, "http": 25, "frames": 25, "config": 15, "games": 25}

every_target = pytest.mark.parametrize(
    "target", TARGETS, ids=lambda target: target.name
)


@every_target
def test_a_seed_is_taken(target: Target) -> None:
    """A target that refused what is well-formed would test nothing behind its first
    check.
    """
    for seed in target.seeds:
        if target.name != "address":  # needs files and networks
            assert try_input(target, seed), seed[:80]


@every_target
@pytest.mark.whole
def test_only_named_errors_escape(target: Target) -> None:
    random = Random(target.name)
    for _ in range(2 * EXAMPLES.get(target.name, 60)):
        data = mutate(random, random.choice(target.seeds), target.tokens)
        assert len(data) <= 1 << 20
        try_input(target, data)


#: What was found, each made as small as it stayed a finding: what escaped, and through
#: what.
FINDINGS = {
    # InvalidHeaderValue: a handshake whose header holds what none may hold.
    "a header's character": (
        "http",
        b"GET /v3/live HTTP/1.1\r\nHost: localhost\r\nUpgrade: web\x01s\r\n\r\n",
    ),
    # RecursionError: JSON and TOML nested deeper than any reader's stack.
    "boards nested deeply": (
        "boards",
        b'{"response":"call","id":1,"param":' + b'[{"serialnr":' * 5000,
    ),
    "a cloud nested deeply": ("cloud", b'{"rounds":' + b'[{"x":' * 5000),
    "a line nested deeply": ("ndjson", b'{"id":"a","x":' + b"[" * 9000 + b"\n"),
    "settings nested deeply": ("config", b"[engine]\nnodes = " + b"[" * 5000),
    "tokens nested deeply": ("tokens", b"token = " + b"[" * 5000),
    "a first message nested deeply": (
        "frames",
        b"\x81\xfe\x0f\xa0\0\0\0\0" + b'{"type":"token","token":' + b"[" * 3976,
    ),
    # ValueError: a number of more digits than Python reads.
    "settings with a long number": ("config", b"[engine]\nnodes = " + b"1" * 5000),
    "tokens with a long number": ("tokens", b"token = " + b"1" * 5000),
    # OSError: a path longer than any can be, or with a zero byte in it.
    "a long path": ("address", b"x" * 3000),
    "nobody's home": ("address", b"~nobody-of-that-name/x.pgn"),
    # LocalProtocolError: a body in answer to HEAD, where the target cannot be read.
    "a wrong target of HEAD": ("http", b"HEAD F HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    # UnicodeDecodeError: text frames hold any bytes.
    "a first message in Latin-1": (
        "frames",
        b'\x81\x9f\0\0\0\0{"type":"token","token":"caf\xe9 x"',
    ),
    "a path with a zero byte": ("address", b"a\0b.pgn"),
    # UnicodeEncodeError: the environment may hold any bytes.
    "an environment in Latin-1": ("environment", b"LIVE_RATE_ENGINE_NODES=\x8c"),
    # A message that commands the terminal it is shown on.
    "a name with an escape": ("environment", b"LIVE_RATE_\x1b[2J=1"),
    # A move taken from a line of several without asking whether it is legal.
    "a best line that is no move": (
        "engine",
        b"readyok\ninfo depth 1 score cp 1 pv e2e4pv\ninfo depth 1 multipv 2 score "
        b"cp 1 pv d2d4\n"
        b"info depth 1 multipv 3 score cp 1 pv c2c4\nbestmove e2e4\n",
    ),
}


@pytest.mark.parametrize(("name", "data"), FINDINGS.values(), ids=FINDINGS.keys())
def test_what_was_found_stays_mended(name: str, data: bytes) -> None:
    try_input(BY_NAME[name], data)


# --- the fuzzer itself ----------------------------------------------------------------


def test_what_escapes_is_a_finding_and_a_refusal_is_none() -> None:
    def run(data: bytes) -> None:
        if b"crash" in data:
            raise KeyError("x")
        if b"refuse" in data:
            raise ValueError("refused")

    target = Target("x", run, (b"",), (b"",), (ValueError,))
    assert try_input(target, b"fine")
    assert not try_input(target, b"refuse")
    with pytest.raises(KeyError):
        try_input(target, b"a crash")
