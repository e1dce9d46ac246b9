"""Queue of questions to the neural network of human moves, and the thread that runs it.

Questions are answered in batches in a thread of low priority, so that neither engines
nor messages wait for them. A question that was answered before, in this run or in the
store, is not asked again; without a neural network only stored answers are available.
Every question is answered or given up, once.

If more than ``MOST_WAITING`` questions wait, the oldest is given up. The first to go
are questions about positions that nobody looks at. Health reports contain the number.
"""

import asyncio
import contextlib
import logging
import os
import sys
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

from live.errors import LiveRateError
from live.human.network import HumanNetwork, answer_questions
from live.human.question import HumanAnswer, HumanQuestion, HumanRequest
from live.messages.health import HumanHealth
from live.process.supervision import explain_end, run_in_background
from live.settings import HumanConfig

#: Maximum number of waiting questions, some 400 bytes each.
MOST_WAITING = 10_000
#: Number of positions in a batch, each for up to three ratings; a batch takes some 30
#: ms of one core.
BATCH = 8
#: Number of answers remembered, since openings recur on every board.
REMEMBERED = 2_000
#: Number of batches over which the time per position is averaged.
_TIMED = 50
#: Niceness of the thread, above the engines' default of 5, so that engines go first.
_NICE = 10

log = logging.getLogger(__name__)

AnswerListener = Callable[[HumanRequest, HumanAnswer | None], None]


class AnswerStore(Protocol):
    """Store of answers, also for the next run."""

    def find_answer(self, question: HumanQuestion) -> HumanAnswer | None:
        """Return an earlier answer to this question, or None."""

    def store_answer(self, question: HumanQuestion, answer: HumanAnswer) -> None:
        """Store an answer."""


class HumanQueue:
    """Queue of questions to one neural network.

    Args:
        config: settings, with the path of the neural network.
        store: earlier answers.
        on_answer: called with every answer on the event loop; None means that the
            question was given up.
        open_network: returns the neural network, in its own thread; raises
            LiveRateError if there is none.
    """

    def __init__(
        self,
        config: HumanConfig,
        store: AnswerStore,
        on_answer: AnswerListener,
        *,
        open_network: Callable[[Path | None], HumanNetwork] = HumanNetwork,
    ) -> None:
        self._path = Path(config.network) if config.network else None
        self._store = store
        self._on_answer = on_answer
        self._open_network = open_network
        self._network: HumanNetwork | None = None
        self._problem = ""
        self._newest: deque[HumanRequest] = deque()
        self._background: deque[HumanRequest] = deque()
        self._has_questions = asyncio.Event()
        self._memory: dict[HumanQuestion, HumanAnswer] = {}
        self._answers = 0
        self._left_out = 0
        # Positions of each of the last batches, and the seconds that it took.
        self._times: deque[tuple[int, float]] = deque(maxlen=_TIMED)

    def _count_waiting(self) -> int:
        return len(self._newest) + len(self._background)

    def ask(self, request: HumanRequest) -> None:
        """Submit a question. It is never answered before this call returns."""
        if request.newest:
            self._newest.append(request)
        else:
            self._background.append(request)
        if self._count_waiting() > MOST_WAITING:
            oldest = (self._background or self._newest).popleft()
            self._left_out += 1
            asyncio.get_running_loop().call_soon(self._on_answer, oldest, None)
        self._has_questions.set()

    def follow(self, changes: Iterable[object]) -> None:
        """Submit the questions among the changes of the event."""
        for change in changes:
            if isinstance(change, HumanRequest):
                self.ask(change)

    def report_health(self) -> HumanHealth:
        """Return the state of the neural network."""
        positions = sum(count for count, _ in self._times)
        seconds = sum(took_s for _, took_s in self._times)
        network = self._network
        return HumanHealth(
            network=network.identity if network is not None else "",
            learned_from=network.about.get("learned", "")
            if network is not None
            else "",
            waiting=self._count_waiting(),
            answered=self._answers,
            left_out=self._left_out,
            ms_per_position=round(1000 * seconds / positions, 1) if positions else None,
            problem=self._problem,
        )

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Open the neural network, and answer questions while the block runs."""
        with ThreadPoolExecutor(
            1, "human moves", initializer=_lower_priority
        ) as thread:
            lost = "human moves are no longer forecast"
            async with run_in_background(self._run(thread), "human moves", lost):
                yield

    async def _run(self, thread: ThreadPoolExecutor) -> None:
        loop = asyncio.get_running_loop()
        try:
            self._network = await loop.run_in_executor(
                thread, self._open_network, self._path
            )
        except Exception as error:
            self._report_problem(error)
        while True:
            await self._has_questions.wait()
            batch = self._take_batch()
            if not batch:
                self._has_questions.clear()
                continue
            answers = {
                request.question: self._find_known_answer(request.question)
                for request in batch
            }
            missing = [
                question for question, answer in answers.items() if answer is None
            ]
            if missing:
                answers.update(await self._ask_network(loop, thread, missing))
            for request in batch:
                answer = answers[request.question]
                self._answers += answer is not None
                self._on_answer(request, answer)
            # Other tasks can run between two batches.
            await asyncio.sleep(0)

    def _take_batch(self) -> list[HumanRequest]:
        """Return the next questions: first those about positions that people look at.

        These are taken alternately from the newest and the oldest.
        """
        # People look at the newest position, so it needs an answer soon. But figures
        # over a whole game end at the first move without an answer, so the oldest
        # question needs one too.
        batch: list[HumanRequest] = []
        for turn in range(min(BATCH, self._count_waiting())):
            if not self._newest:
                batch.append(self._background.popleft())
            elif turn % 2:
                batch.append(self._newest.popleft())
            else:
                batch.append(self._newest.pop())
        return batch

    def _find_known_answer(self, question: HumanQuestion) -> HumanAnswer | None:
        """Return an earlier answer; None without one.

        If a neural network is in use, answers by other networks do not count.
        """
        answer = self._memory.get(question) or self._store.find_answer(question)
        if answer is None:
            return None
        if self._network is not None and answer.network != self._network.identity:
            return None
        self._remember_answer(question, answer)
        return answer

    async def _ask_network(
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
            new = await loop.run_in_executor(
                thread, answer_questions, network, questions
            )
        except Exception as error:
            self._network = None
            self._report_problem(error)
            return {}
        self._times.append((len(questions), time.perf_counter() - began_s))
        answers = dict(zip(questions, new, strict=True))
        for question, answer in answers.items():
            self._remember_answer(question, answer)
            self._store.store_answer(question, answer)
        return answers

    def _remember_answer(self, question: HumanQuestion, answer: HumanAnswer) -> None:
        self._memory[question] = answer
        if len(self._memory) > REMEMBERED:
            del self._memory[next(iter(self._memory))]

    def _report_problem(self, error: Exception) -> None:
        """Report the problem, and continue without the neural network.

        A broken file or library must not stop the analysis of games.
        """
        is_ours = isinstance(error, LiveRateError)
        self._problem = str(error) if is_ours else explain_end(error)
        log.warning(
            "no finds and traps: %s", self._problem, exc_info=None if is_ours else error
        )


def _lower_priority() -> None:
    """Lower the priority of this thread, which only Linux allows."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
