"""live.games.addresses: what of a text leads to a page, and what is a name."""

import pytest

from live.games.addresses import strip_addresses


@pytest.mark.parametrize(
    "text",
    [
        "lichess.org/AbCd1234",
        "Lichess.org/AbCd1234",
        "Lichess.Org/AbCd1234",
        "LICHESS.ORG/ABCD1234",
        "https://lichess.org/AbCd1234",
        "www.chess.com",
        "view.livechesscloud.com/#0a1b",
        "пример.рф/x",
        "192.168.1.7:8080",
        "hall-pc:1982/api",
    ],
)
def test_an_address_is_left_out(text: str) -> None:
    assert strip_addresses(text) == ""
    assert strip_addresses(f"Round 3, {text}") == "Round 3,"


@pytest.mark.parametrize(
    "text",
    [
        "K.Müller/H.Schmidt",
        "K.Li/H.Wu",
        "St.Petersburg/RUS",
        "Carlsen, M.",
        "Nf3/Ng5",
        "40/7200:20/3600:900+30",
        "90'/40+30'/G+30\"",
        "Dr. Ek",
    ],
)
def test_a_name_a_place_and_a_time_control_stay(text: str) -> None:
    assert strip_addresses(text) == text
