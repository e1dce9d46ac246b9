"""Supervision of the parts of a running service: restarts, background work, and faults.

A part that fails does not affect the others: the failure is logged and shown, and the
part is restarted again and again, after growing random waits. An error is raised only
if no restart can repair it; the caller decides whether the service can continue without
the part.
"""

import asyncio
import contextlib
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from typing import Any

from live.errors import LiveRateError, find_first_error
from live.messages.health import FeedHealth, HealthReport, part_health
from live.process.backoff import Chance, format_duration, generate_doubling_s
from live.process.clock import LOOP_CLOCK, Clock

log = logging.getLogger(__name__)

#: Upper bound of the first wait, seconds; bounds double from there.
FIRST_S = 1.0
#: Longest wait, seconds: an arbiter looks at the screen once a minute.
CAP_S = 60.0
#: Running time after which a part counts as repaired, seconds. Its next wait is then
#: short again.
STEADY_S = 120.0
#: Running time after a restart at which the recovery is reported, seconds.
WELL_S = 5.0


def explain_end(error: BaseException | None) -> str:
    """Return the reason why a part ended: short, in lower case, without a full stop."""
    if error is None:
        return "ended by itself"
    error = find_first_error(error)
    if isinstance(error, LiveRateError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return f"program fault ({type(error).__name__})"


class Supervisor:
    """Supervisor that starts parts, and restarts them when they end.

    Args:
        report: called with the health of every part that has failed or recovered.
        clock: clock for waits; tests use their own.
        chance: random numbers for the jitter of waits.
    """

    def __init__(
        self,
        report: HealthReport,
        *,
        clock: Clock = LOOP_CLOCK,
        chance: Chance = random.random,
    ) -> None:
        self._report = report
        self._clock = clock
        self._chance = chance

    async def keep(
        self,
        name: str,
        run: Callable[[], Awaitable[None]],
        *,
        source: bool = False,
        ends: bool = False,
        fatal: Callable[[BaseException], bool] = lambda error: False,
    ) -> None:
        """Run a part, and restart it whenever it ends, until cancelled.

        Args:
            name: name of the part for people.
            run: starts a new run of the part.
            source: True for a source, which reports its own recovery.
            ends: True if the work of the part is done when ``run`` returns; otherwise
                a return is a failure.
            fatal: returns whether an error cannot be repaired by a restart; such an
                error is raised.
        """
        waits: Iterator[float] | None = None
        while True:
            began_s = self._clock.now()
            task = asyncio.ensure_future(run())
            if isinstance(task, asyncio.Task):
                task.set_name(name)
            try:
                if waits is not None and not source:
                    await self._report_recovery(name, task)
                await asyncio.wait([task])
            finally:
                # The task is not done only if this call is cancelled.
                if not task.done():
                    task.cancel()
                    await asyncio.wait([task])
            error = asyncio.CancelledError() if task.cancelled() else task.exception()
            if error is None and ends:
                return
            if error is not None and not self._can_mend(error, fatal):
                raise error
            if waits is None or self._clock.now() - began_s >= STEADY_S:
                # Equal jitter, so that no wait is 0.
                waits = generate_doubling_s(
                    self._chance, first_s=FIRST_S, cap_s=CAP_S, least_share=0.5
                )
            wait_s = next(waits)
            reason = f"{explain_end(error)}, started again in {format_duration(wait_s)}"
            is_ours = not (error is None or isinstance(error, LiveRateError | OSError))
            log.error("%s: %s", name, reason, exc_info=error if is_ours else None)
            self._report(FeedHealth(name, "retrying", reason, part=not source))
            await self._clock.sleep(wait_s)

    def _can_mend(
        self, error: BaseException, fatal: Callable[[BaseException], bool]
    ) -> bool:
        # A keyboard interrupt or a system exit ends everything.
        is_mendable = isinstance(error, Exception | asyncio.CancelledError)
        return is_mendable and not fatal(error)

    async def _report_recovery(self, name: str, task: asyncio.Future[None]) -> None:
        """Report the recovery of a restarted part once it has run for ``WELL_S``."""
        with contextlib.suppress(TimeoutError):
            async with self._clock.deadline(WELL_S):
                await asyncio.wait([task])
                return
        self._report(part_health(name, "live"))
        log.info("%s works again", name)


class FaultLog:
    """Logger and counter of internal errors."""

    def __init__(self, message: str) -> None:
        """Create with the message to log, which describes the effect of the errors."""
        self.count = 0
        self._message = message

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        """Log and count any exception that ends the block, and do not raise it."""
        try:
            yield
        except Exception as error:
            # All exceptions are caught: the code after the block must run in any case.
            self.record(error)

    def record(self, error: Exception) -> None:
        """Log and count an error."""
        self.count += 1
        log.error("%s", self._message, exc_info=error)


async def run_every(period_s: float, *actions: Callable[[], None]) -> None:
    """Call these functions in order, again and again, until cancelled."""
    while True:
        await asyncio.sleep(period_s)
        for action in actions:
            action()


@contextlib.asynccontextmanager
async def run_in_background(
    work: Coroutine[Any, Any, None], name: str, lost: str = ""
) -> AsyncIterator[None]:
    """Run work as long as the block runs.

    If the work fails, the block continues. ``lost`` is the message to log then; if it
    is empty, the message contains ``name``.
    """

    def on_end(task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None:
            log.error("%s", lost or f"{name} failed", exc_info=error)

    task = asyncio.create_task(work, name=name)
    task.add_done_callback(on_end)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})
