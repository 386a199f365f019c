"""Threads of numerical libraries: one where dpaudit computes, as many as before where a target does."""

from threadpoolctl import threadpool_info, threadpool_limits

from dpaudit.auditors.learning.threads import one_thread


def numbers():
    return {library["num_threads"] for library in threadpool_info()}


def test_libraries_have_one_thread_within_and_as_many_as_before_after_it():
    with threadpool_limits(limits=2):
        before = numbers()
        with one_thread():
            assert numbers() == {1}
        assert numbers() == before


def test_threads_that_compute_beside_each_other_leave_what_was_before():
    """The first that begins limits, and the last that ends puts back."""
    with threadpool_limits(limits=2):
        before = numbers()
        first, second = one_thread(), one_thread()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert numbers() == {1}
        second.__exit__(None, None, None)
        assert numbers() == before
