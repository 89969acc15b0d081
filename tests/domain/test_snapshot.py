"""What a manifest says of itself."""

from intermezzo.domain.snapshot import Manifest


def test_a_verification_is_due_until_it_was_done_after_it_was_asked_for() -> None:
    assert not Manifest("s", "w", "o", 1, 1).verification_due
    assert Manifest("s", "w", "o", 1, 1, verify_asked_at=2, verified_at=1).verification_due
    assert not Manifest("s", "w", "o", 1, 1, verify_asked_at=2, verified_at=2).verification_due
