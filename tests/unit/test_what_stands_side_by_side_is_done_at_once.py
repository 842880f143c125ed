"""One function over many items: on threads, in order, and with no more begun once one has failed."""

import time
from threading import Barrier, Event

import pytest

from onthedot.wiring import THREADS, Threads

AT_ONCE = Threads()
PATIENCE = 10


@pytest.mark.parametrize("count", [0, 1, 2, THREADS, 10 * THREADS + 1])
def test_results_come_in_the_order_of_the_items(count: int) -> None:
    first = Event()

    def doubled(number: int) -> int:
        if number == 0 and count > 1:
            assert first.wait(PATIENCE), "the others go on while the first waits"
        elif number == count - 1:
            first.set()
        time.sleep(number % 3 / 1_000)
        return 2 * number

    assert AT_ONCE(doubled, iter(range(count))) == [2 * number for number in range(count)]


def test_as_many_as_there_are_threads_are_done_at_once() -> None:
    """A worker's batch: what waits for another outcome holds up nobody."""
    all_of_them = Barrier(THREADS)
    assert len(AT_ONCE(lambda _: all_of_them.wait(PATIENCE), range(THREADS))) == THREADS


def test_a_failure_is_raised_and_no_more_is_begun() -> None:
    begun = list[int]()

    def fail_at_first(number: int) -> None:
        begun.append(number)
        if number == 0:
            raise TimeoutError
        time.sleep(0.01)

    with pytest.raises(TimeoutError):
        AT_ONCE(fail_at_first, range(10 * THREADS))
    assert len(begun) < 5 * THREADS
