"""Parts of a running service: kept alive, run in the background, and their faults.

A part that fails costs nothing else anything: the failure is logged and shown, and the
part is started again, for ever, after random waits that grow. Only an error that no new
start can mend is raised; the caller decides whether the service can do without the
part.
"""

import asyncio
import contextlib
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from typing import Any

from live.errors import LiveRateError, first_of
from live.messages.health import FeedHealth, HealthReport, part_health
from live.process.backoff import Chance, format_duration, generate_doubling_s
from live.process.clock import LOOP_CLOCK, Clock

log = logging.getLogger(__name__)

#: The first wait is at most this long, seconds; bounds double from there.
FIRST_S = 1.0
#: No wait is longer, seconds: an arbiter looks at the screen once a minute.
CAP_S = 60.0
#: A part that ran for so long had been mended, seconds: its next wait is short again.
STEADY_S = 120.0
#: A part that has run for so long since its new start is well again, seconds.
WELL_S = 5.0


def explain_end(error: BaseException | None) -> str:
    """Return why a part ended: short, in lower case, without a full stop."""
    if error is None:
        return "ended by itself"
    error = first_of(error)
    if isinstance(error, LiveRateError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return f"fault in our own code ({type(error).__name__})"


class Supervisor:
    """Starts parts, and starts them again.

    Args:
        report: gets the health of every part in trouble, and its recovery.
        clock: for waits; tests bring their own.
        chance: for the jitter of waits.
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
        """Run a part until cancelled.

        Args:
            name: what people call it.
            run: starts a new run of it.
            source: it is a source, not a part of ours; it reports its own recovery.
            ends: a return is no failure: its work is done.
            fatal: whether no new start can mend an error, which is raised then.
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
                # Only if this is cancelled itself: else the part has ended.
                if not task.done():
                    task.cancel()
                    await asyncio.wait([task])
            error = asyncio.CancelledError() if task.cancelled() else task.exception()
            if error is None and ends:
                return
            if error is not None and not self._can_mend(error, fatal):
                raise error
            if waits is None or self._clock.now() - began_s >= STEADY_S:
                # Equal jitter: no wait is 0.
                waits = generate_doubling_s(
                    self._chance, first_s=FIRST_S, cap_s=CAP_S, least=0.5
                )
            wait_s = next(waits)
            why = f"{explain_end(error)}, started again in {format_duration(wait_s)}"
            is_ours = not (error is None or isinstance(error, LiveRateError | OSError))
            log.error("%s: %s", name, why, exc_info=error if is_ours else None)
            self._report(FeedHealth(name, "retrying", why, part=not source))
            await self._clock.sleep(wait_s)

    def _can_mend(
        self, error: BaseException, fatal: Callable[[BaseException], bool]
    ) -> bool:
        # A keyboard interrupt or a system exit ends everything.
        is_mendable = isinstance(error, Exception | asyncio.CancelledError)
        return is_mendable and not fatal(error)

    async def _report_recovery(self, name: str, task: asyncio.Future[None]) -> None:
        """Report that a part that was started again is well once it has run a while."""
        with contextlib.suppress(TimeoutError):
            async with self._clock.deadline(WELL_S):
                await asyncio.wait([task])
                return
        self._report(part_health(name, "live"))
        log.info("%s works again", name)


class FaultLog:
    """Logs and counts internal errors."""

    def __init__(self, what: str) -> None:
        """``what`` they cost, for people."""
        self.count = 0
        self._what = what

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        """Log and count any exception of the block, which ends there."""
        try:
            yield
        except Exception as error:
            # Broad: whatever fails in here, the code after the block has to run.
            self.count += 1
            log.error("%s", self._what, exc_info=error)


@contextlib.asynccontextmanager
async def run_in_background(
    work: Coroutine[Any, Any, None], name: str, lost: str = ""
) -> AsyncIterator[None]:
    """Run work as long as the block runs.

    A failure costs nothing else; it is logged as ``lost``, or by ``name``.
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
