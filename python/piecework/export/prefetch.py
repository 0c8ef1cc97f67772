"""Work that overlaps with what comes before and after it: a few items on their way, in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def overlapped(
    work: Callable[[Item], Result],
    items: Iterable[Item],
    in_flight: int,
    is_idle: Callable[[], bool] = lambda: False,
) -> Generator[Result, None, None]:
    """Give `work(item)` for each item, in order, done by one other thread.

    >>> list(overlapped(str.upper, ["a", "b", "c"], in_flight=2))
    ['A', 'B', 'C']

    At most `in_flight` items wait or are worked on while the caller deals with a result, and one
    more is drawn while it waits. While `is_idle` says that the next item is not there yet, results are given
    without waiting for it. Whoever stops early must close the generator.
    """
    executor = ThreadPoolExecutor(1)
    running: deque[Future[Result]] = deque()
    try:
        for item in items:
            running.append(executor.submit(work, item))
            while running and (len(running) > in_flight or is_idle()):
                yield running.popleft().result()
        while running:
            yield running.popleft().result()
    finally:
        executor.shutdown(cancel_futures=True)
