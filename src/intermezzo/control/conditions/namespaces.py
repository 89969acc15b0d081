"""Labels of namespaces: what administrators gave them, and the team that owns each. Rules of kinds look at them."""

import asyncio
from collections.abc import Mapping

from intermezzo.control.context import Context
from intermezzo.domain.activity_rules import Labels
from intermezzo.domain.errors import InvalidInput
from intermezzo.domain.labels import TEAM_LABEL, check_labels
from intermezzo.domain.names import NAMESPACE_LENGTH, fold, wrong_with

SETTING = "namespace_labels"


class Namespaces:
    """Reads and changes them. A namespace need not have a workspace yet."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._one_at_a_time = asyncio.Lock()

    async def given_labels(self) -> dict[str, dict[str, str]]:
        """What administrators gave, by namespace."""
        return dict(await self._context.store.setting(SETTING, {}))

    async def label_namespace(self, namespace: str, labels: Mapping[str, str]) -> None:
        """Give it exactly these; none takes them back. Raises `InvalidInput`."""
        if problem := wrong_with(namespace, NAMESPACE_LENGTH):
            raise InvalidInput(f"the namespace {problem}", fields={"namespace": problem})
        check_labels(labels)
        async with self._one_at_a_time:
            given = {name: own for name, own in (await self.given_labels()).items() if fold(name) != fold(namespace)}
            if labels:
                given[namespace] = dict(labels)
            await self._context.store.set_setting(SETTING, given)


async def namespace_labels(context: Context) -> dict[str, Labels]:
    """Those that administrators gave, and the team that owns each, by the case-folded name of the namespace."""
    given: dict[str, dict[str, str]] = await context.store.setting(SETTING, {})
    labels = {fold(namespace): dict(own) for namespace, own in given.items()}
    for team in await context.store.accounts.teams():
        for namespace in team.namespaces:
            labels.setdefault(fold(namespace), {})[TEAM_LABEL] = team.name
    return dict(labels)
