"""The network of human moves alongside the engines: a queue, a thread, and what is kept of answers.

Part of the composition root. Questions come after the searches and messages of the same news, and
are answered in batches in a thread of low priority, so that neither waits for them. What was
answered before, in this run or by the journal, is not asked again; without a network the journal's
answers are all there are. Every question is answered or given up, once.

Loss policy: of more than ``MOST_WAITING`` questions the oldest is given up, those about positions
that people look at last; health says how many.
"""

import asyncio
import contextlib
import logging
import os
import sys
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from live.config import HumanConfig
from live.errors import LiveRateError
from live.event.requests import HumanRequest
from live.human.network import HumanNetwork, answer_questions
from live.human.question import HumanAnswer, HumanQuestion
from live.journal.journal import Journal
from live.messages.health import HumanHealth
from live.process.supervision import explain_end, run_in_background

#: Questions that wait at most, some 400 bytes each.
MOST_WAITING = 10_000
#: Positions at a time, each for up to three ratings: a batch takes some 30 ms of one core.
BATCH = 8
#: Answers remembered: openings come again on every board.
REMEMBERED = 2_000
#: How far back the time of a position is averaged, batches.
_TIMED = 50
#: Behind the engines, which are at 5 unless set otherwise.
_NICE = 10

log = logging.getLogger(__name__)

Answered = Callable[[HumanRequest, HumanAnswer | None], None]


class HumanService:
    """Asks one network.

    Args:
        kept: answers of before.
        answered: gets every answer on the event loop; None: it was given up.
        opened: gives the network, in its thread; raises LiveRateError where there is none.
    """

    def __init__(
        self,
        config: HumanConfig,
        kept: Journal,
        answered: Answered,
        *,
        opened: Callable[[Path | None], HumanNetwork] = HumanNetwork,
    ) -> None:
        self._path = Path(config.network) if config.network else None
        self._kept = kept
        self._answered = answered
        self._opened = opened
        self._network: HumanNetwork | None = None
        self._problem = ""
        self._newest: deque[HumanRequest] = deque()
        self._others: deque[HumanRequest] = deque()
        self._come = asyncio.Event()
        self._memory: dict[HumanQuestion, HumanAnswer] = {}
        self._answers = 0
        self._left_out = 0
        self._times: deque[tuple[int, float]] = deque(maxlen=_TIMED)

    @property
    def _waiting(self) -> int:
        return len(self._newest) + len(self._others)

    def ask(self, request: HumanRequest) -> None:
        """Have a question answered, never before this call returns."""
        (self._newest if request.newest else self._others).append(request)
        if self._waiting > MOST_WAITING:
            oldest = (self._others or self._newest).popleft()
            self._left_out += 1
            asyncio.get_running_loop().call_soon(self._answered, oldest, None)
        self._come.set()

    def health(self) -> HumanHealth:
        """How it is doing."""
        positions = sum(many for many, _ in self._times)
        seconds = sum(took for _, took in self._times)
        network = self._network
        return HumanHealth(
            network=network.identity if network is not None else "",
            learned_from=network.about.get("learned", "") if network is not None else "",
            waiting=self._waiting,
            answered=self._answers,
            left_out=self._left_out,
            ms_per_position=round(1000 * seconds / positions, 1) if positions else None,
            problem=self._problem,
        )

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Questions are answered as long as this lasts; the network is opened with it."""
        with ThreadPoolExecutor(1, "human moves", initializer=_behind_engines) as thread:
            lost = "what players would play is asked for no more"
            async with run_in_background(self._run(thread), "human moves", lost):
                yield

    async def _run(self, thread: ThreadPoolExecutor) -> None:
        loop = asyncio.get_running_loop()
        try:
            self._network = await loop.run_in_executor(thread, self._opened, self._path)
        except Exception as error:
            self._unusable(error)
        while True:
            await self._come.wait()
            batch = self._batch()
            if not batch:
                self._come.clear()
                continue
            found = {each.question: self._known(each.question) for each in batch}
            if missing := [question for question, known in found.items() if known is None]:
                found.update(await self._asked(loop, thread, missing))
            for request in batch:
                answer = found[request.question]
                self._answers += answer is not None
                self._answered(request, answer)
            # Whoever else has work has it done between two batches.
            await asyncio.sleep(0)

    def _batch(self) -> list[HumanRequest]:
        """What is next: positions that people look at, the latest and the oldest in turns, then the
        others.
        """
        # Where more is asked than answered, the latest is what people look at, and the oldest what
        # the evidence of a whole game waits for: it ends at the first move without an answer.
        return [
            (self._newest.popleft() if turn % 2 else self._newest.pop())
            if self._newest
            else self._others.popleft()
            for turn in range(min(BATCH, self._waiting))
        ]

    def _known(self, question: HumanQuestion) -> HumanAnswer | None:
        """Answered before, by the network in use where there is one."""
        answer = self._memory.get(question) or self._kept.find_answer(question)
        if answer is None:
            return None
        if self._network is not None and answer.network != self._network.identity:
            return None
        self._remember(question, answer)
        return answer

    async def _asked(
        self,
        loop: asyncio.AbstractEventLoop,
        thread: ThreadPoolExecutor,
        questions: Sequence[HumanQuestion],
    ) -> dict[HumanQuestion, HumanAnswer]:
        network = self._network
        if network is None:
            return {}
        began_s = time.perf_counter()
        try:
            new = await loop.run_in_executor(thread, answer_questions, network, questions)
        except Exception as error:
            self._network = None
            self._unusable(error)
            return {}
        self._times.append((len(questions), time.perf_counter() - began_s))
        answered = dict(zip(questions, new, strict=True))
        for question, answer in answered.items():
            self._remember(question, answer)
            self._kept.store_answer(question, answer)
        return answered

    def _remember(self, question: HumanQuestion, answer: HumanAnswer) -> None:
        self._memory[question] = answer
        if len(self._memory) > REMEMBERED:
            del self._memory[next(iter(self._memory))]

    def _unusable(self, error: Exception) -> None:
        """Whatever a file or library of others brings about, scores and ratings go on."""
        known = isinstance(error, LiveRateError)
        self._problem = str(error) if known else explain_end(error)
        log.warning("no finds and traps: %s", self._problem, exc_info=None if known else error)


def _behind_engines() -> None:
    """Linux has a priority for each thread; elsewhere this one is as any other."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
