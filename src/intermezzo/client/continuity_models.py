"""What the public API says about whether a session is still the one that it was, and how that is known."""

from intermezzo.client.shape import Shape
from intermezzo.domain.continuity import Verdict


class WitnessShape(Shape):
    """One process's account of itself; `nonce` is what it alone holds in memory."""

    role: str
    id: str
    pid: int
    started: int
    nonce: str = ""


class WitnessReportShape(Shape):
    """The witnesses at one moment."""

    at: int
    witnesses: tuple[WitnessShape, ...]


class ContinuityShape(Shape):
    """Whether the session after the last start or resume is the one that was paused, and how that is known."""

    verdict: Verdict
    evidence: tuple[str, ...] = ()
    before: WitnessReportShape | None = None
    after: WitnessReportShape | None = None
