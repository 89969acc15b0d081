"""What a comparison of two witness reports says: the verdict, and one line a witness that reads well."""

import pytest

from intermezzo.domain.continuity import Verdict, Witness, WitnessReport, judge

INIT = Witness("init", "init", 1, 100, "planted")
KERNEL = Witness("kernel", "k1", 29, 200, "planted")


def test_a_witness_there_is_only_one_of_is_named_once_a_kernel_with_its_id() -> None:
    report = WitnessReport(0, (INIT, KERNEL))
    proven = judge(report, report)
    assert proven.verdict is Verdict.RESTORED
    assert proven.evidence == (
        "init: pid 1, same start time, same value in memory",
        "kernel k1: pid 29, same start time, same value in memory",
    )


def test_a_process_that_does_not_answer_proves_nothing_and_disproves_nothing() -> None:
    silent = Witness("init", "init", 1, 100, "")
    found = judge(WitnessReport(0, (INIT, KERNEL)), WitnessReport(1, (silent, KERNEL)))
    assert (found.verdict, found.evidence) == (Verdict.UNKNOWN, ("init did not answer",))


@pytest.mark.parametrize(
    ("after", "evidence"),
    [
        ((), "init is gone"),
        (
            (Witness("init", "init", 2, 300, "planted"),),
            "init is another process (pid 1 started 100, now pid 2 started 300)",
        ),
        ((Witness("init", "init", 1, 100, "other"),), "init no longer holds the value planted in its memory"),
    ],
)
def test_what_differs_is_said_once(after: tuple[Witness, ...], evidence: str) -> None:
    found = judge(WitnessReport(0, (INIT,)), WitnessReport(1, after))
    assert (found.verdict, found.evidence) == (Verdict.FRESH, (evidence,))
