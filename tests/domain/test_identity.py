"""When a fork may be called one: its state is the original's and its identity is not, both proven."""

from dataclasses import replace

import pytest

from intermezzo.domain.continuity import Verdict, Witness, WitnessReport, judge
from intermezzo.domain.identity import IdentityReport, Reseeded, Standing, judge_fork

PATH = "/workspace/connect/team/fork/jupyterlab/"
INIT = Witness("init", "init", 1, 100, "planted in init")
KERNEL = Witness("kernel", "k1", 20, 200, "planted in k1")
BEFORE = WitnessReport(1, (INIT, KERNEL))
OWN = WitnessReport(3, (replace(INIT, nonce="new in init"), replace(KERNEL, nonce="new in k1")))
IDENTITY = IdentityReport(PATH, "fork", 2, (Reseeded("k1", ("random", "ssl")),))
STANDING = Standing(IDENTITY, False, OWN)


def told(standing: Standing, after: WitnessReport = BEFORE) -> str:
    found = judge_fork(BEFORE, after, standing, PATH)
    assert found.verdict is not Verdict.FORKED
    return "; ".join(found.evidence)


def test_a_fork_with_the_originals_state_and_an_identity_of_its_own_is_one() -> None:
    found = judge_fork(BEFORE, BEFORE, STANDING, PATH)
    assert found.verdict is Verdict.FORKED
    assert any("kernel k1: new random numbers in random, ssl" in line for line in found.evidence)
    assert sum(line.startswith("state of the original: ") for line in found.evidence) == len(BEFORE.witnesses)


def test_another_state_is_told_as_a_resume_tells_it() -> None:
    other = replace(BEFORE, witnesses=(INIT, replace(KERNEL, pid=21)))
    found = judge_fork(BEFORE, other, STANDING, PATH)
    assert (found.verdict, found.evidence) == (Verdict.FRESH, judge(BEFORE, other).evidence)
    assert judge_fork(None, BEFORE, STANDING, PATH).verdict is Verdict.UNKNOWN
    assert judge_fork(BEFORE, None, STANDING, PATH).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("standing", "doubt"),
    [
        (replace(STANDING, identity=None), "did not say who it is"),
        (replace(STANDING, identity=replace(IDENTITY, given_at=0)), "no identity of its own"),
        (replace(STANDING, identity=replace(IDENTITY, path="/elsewhere/")), "answers under /elsewhere/"),
        (replace(STANDING, takes_originals_token=True), "takes the access token of the original"),
        (replace(STANDING, identity=replace(IDENTITY, kernels=())), "random numbers of kernel k1 are the original's"),
        (replace(STANDING, identity=replace(IDENTITY, kernels=(Reseeded("k1", (), "busy"),))), "kernel k1: busy"),
        (replace(STANDING, replanted=None), "no value of its own"),
        (replace(STANDING, replanted=replace(OWN, witnesses=(INIT, OWN.witnesses[1]))), "init still holds"),
        (replace(STANDING, replanted=replace(OWN, witnesses=(replace(INIT, nonce=""),))), "init still holds"),
    ],
)
def test_each_doubt_about_its_identity_keeps_it_from_being_one(standing: Standing, doubt: str) -> None:
    assert doubt in told(standing)
