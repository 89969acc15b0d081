"""The guest's HTTP API inside a sandbox, as far as the continuity proof needs it."""

from typing import Any

from pydantic import TypeAdapter, ValidationError

from intermezzo.adapters.jupyter.http import Server
from intermezzo.domain.continuity import WitnessReport
from intermezzo.domain.errors import Unreachable
from intermezzo.domain.identity import IdentityReport

_REPORT = TypeAdapter(WitnessReport)
_IDENTITY = TypeAdapter(IdentityReport)


class Guest:
    """Raises `Unreachable` if the guest does not answer or answers something else than a report."""

    def __init__(self, http: Server) -> None:
        self._http = http

    async def plant(self, nonce: str) -> WitnessReport:
        """Have a value derived from `nonce` put into every process that can hold one."""
        return _report(await self._http.post("witness", {"nonce": nonce}))

    async def ready(self) -> Any:
        """That it answers at all."""
        return await self._http.get("ready")

    async def identity(self) -> IdentityReport:
        """Who the session says that it is."""
        try:
            return _IDENTITY.validate_python(await self._http.get("identity"))
        except ValidationError as error:
            raise Unreachable("the guest in the sandbox answered something that is not an identity") from error

    async def witness(self) -> WitnessReport:
        """What the processes hold now."""
        return _report(await self._http.get("witness"))


def _report(answer: Any) -> WitnessReport:
    try:
        return _REPORT.validate_python(answer)
    except ValidationError as error:
        raise Unreachable("the guest in the sandbox answered something that is not a witness report") from error
