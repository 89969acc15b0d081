"""The part of the SDK about quotas: what is allowed, and what counts against it."""

from intermezzo.client.quota_models import QuotaShape
from intermezzo.client.wire import Wire


class Quotas:
    """What `Intermezzo.quotas` can be asked."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def own(self) -> list[QuotaShape]:
        """One's own, those of one's teams, and those of their namespaces."""
        return self._wire.many(QuotaShape, "/quotas")

    def of_everybody(self) -> list[QuotaShape]:
        """Everybody's who has a workspace, and every team's and namespace's. Raises `Forbidden` for who may not look
        at all of the installation."""
        return self._wire.many(QuotaShape, "/quotas/everybody")
