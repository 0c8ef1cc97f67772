"""Run work on background threads while the caller reads and writes."""

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
    workers: int = 1,
    is_large: Callable[[Item], bool] = lambda item: False,
) -> Generator[Result, None, None]:
    """Yield `work(item)` for each item, in order, computed by background threads.

    >>> list(overlapped(str.upper, ["a", "b", "c"], in_flight=2))
    ['A', 'B', 'C']

    At most `in_flight` items are queued or in work while the caller processes a result, and one more is
    read while it waits. While `is_idle()` returns True, because the next item has not arrived, results
    are yielded without waiting for it. Nothing is read or in work beside an item that `is_large`, so memory
    is bounded by one of them. A caller that stops early must close the generator.
    """
    executor = ThreadPoolExecutor(workers)
    running: deque[Future[Result]] = deque()
    try:
        for item in items:
            running.append(executor.submit(work, item))
            alone = is_large(item)
            while running and (alone or len(running) > in_flight or is_idle()):
                yield running.popleft().result()
        while running:
            yield running.popleft().result()
    finally:
        executor.shutdown(cancel_futures=True)
