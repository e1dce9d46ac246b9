"""How many, and how fast."""

from __future__ import annotations

import pytest

from live.publish.access import ClientLimits, RateLimits, TokenBucket


class Clock:
    def __init__(self) -> None:
        self.now_s = 50.0

    def __call__(self) -> float:
        return self.now_s


def test_a_bucket_gives_its_burst_and_then_its_rate() -> None:
    bucket = TokenBucket(rate=2, burst=3, now_s=0)
    assert [bucket.take(0) for _ in range(4)] == [True, True, True, False]
    assert not bucket.take(0.4)
    assert bucket.take(0.5)
    assert [bucket.take(100) for _ in range(4)] == [True, True, True, False]


def test_so_many_from_one_address_and_so_many_in_all() -> None:
    admission = RateLimits(ClientLimits(connections=4, connections_per_address=2), Clock())
    assert [admission.enter("10.0.0.1") for _ in range(3)] == [True, True, False]
    admission.leave("10.0.0.1")
    assert admission.enter("10.0.0.2")
    assert admission.enter("10.0.0.3")
    assert not admission.enter("10.0.0.4")


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_this_machine_is_counted_in_all_only(address: str) -> None:
    limits = ClientLimits(connections=5, connections_per_address=1, handshakes_per_address_burst=1)
    admission = RateLimits(limits, Clock())
    assert all(admission.enter(address) for _ in range(5))
    assert not admission.enter(address)
    assert all(admission.shake(address) for _ in range(50))


def test_one_address_cannot_use_up_the_handshakes_of_others() -> None:
    clock = Clock()
    limits = ClientLimits(
        handshakes_burst=5,
        handshakes_per_s=1,
        handshakes_per_address_burst=2,
        handshakes_per_address_per_s=0.5,
    )
    admission = RateLimits(limits, clock)
    assert [admission.shake("10.0.0.1") for _ in range(3)] == [True, True, False]
    assert [admission.shake("10.0.0.2") for _ in range(3)] == [True, True, False]
    assert admission.shake("10.0.0.3")
    assert not admission.shake("10.0.0.4")
    clock.now_s += 2
    assert admission.shake("10.0.0.1")
    assert admission.shake("10.0.0.4")
    assert not admission.shake("10.0.0.1")


def test_addresses_are_not_remembered_without_end() -> None:
    admission = RateLimits(ClientLimits(handshakes_burst=1e9), Clock())
    for number in range(10_000):
        admission.shake(f"10.0.{number // 256}.{number % 256}")
    assert len(admission._rates) <= 4096
