"""The host's packet rules for sandboxes: one nftables table for each installation, and forwarding while it is needed.

It must never touch rules of others, and leaves forwarding as it found it.
"""

import asyncio
import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import IPv4Network
from pathlib import Path

from intermezzo.domain.errors import EngineFailure
from intermezzo.node.processes import run

FORWARDING = Path("/proc/sys/net/ipv4/ip_forward")
# Shared by all installations on a machine: what forwarding was before the first of them switched it on.
BEFORE = Path("/run/intermezzo-ip-forward")
FAMILY = "intermezzo_"


def rules(table: str, prefix: str, subnet: IPv4Network) -> str:
    """The table as text for `nft -f`; loading it again replaces it as a whole."""
    sandboxes = f'"{prefix}*"'
    return f"""
table inet {table} {{}}
delete table inet {table}
table inet {table} {{
  chain forward {{
    type filter hook forward priority filter; policy accept;
    iifname {sandboxes} ip daddr 169.254.0.0/16 drop
    iifname {sandboxes} oifname {sandboxes} drop
    iifname {sandboxes} ip saddr != {subnet} drop
    iifname {sandboxes} meta nfproto ipv6 drop
    oifname {sandboxes} ct state established,related accept
    oifname {sandboxes} drop
  }}
  chain input {{
    type filter hook input priority filter; policy accept;
    iifname {sandboxes} ct state established,related accept
    iifname {sandboxes} drop
  }}
  chain postrouting {{
    type nat hook postrouting priority srcnat; policy accept;
    ip saddr {subnet} oifname != {sandboxes} masquerade
  }}
}}
"""


class Firewall:
    """The table of one installation."""

    def __init__(self, instance: str, prefix: str, subnet: IPv4Network) -> None:
        self._table = f"{FAMILY}{instance}"
        self._rules = rules(self._table, prefix, subnet)

    async def ensure(self) -> None:
        """Have the table and forwarding in place, whatever was done to them meanwhile. Raises EngineFailure."""
        finished = await run(["nft", "-f", "-"], given=self._rules)
        if finished.code:
            raise EngineFailure(
                "the packet rules for sandboxes could not be loaded",
                "Install nftables (`apt install nftables`).",
                finished.output.strip(),
            )
        await asyncio.to_thread(_forward)

    async def remove(self) -> None:
        """Take the table away, and put forwarding back unless another installation needs it."""
        if await self.exists():
            await run(["nft", "delete", "table", "inet", self._table])
        others = (await run(["nft", "list", "tables"])).output
        if FAMILY not in others:
            await asyncio.to_thread(_stop_forwarding)

    async def exists(self) -> bool:
        """Whether the table is there now."""
        return (await run(["nft", "list", "table", "inet", self._table])).code == 0


def _forward() -> None:
    with _alone():
        if not BEFORE.exists():
            BEFORE.write_text(FORWARDING.read_text())
        FORWARDING.write_text("1")


def _stop_forwarding() -> None:
    with _alone():
        if BEFORE.exists():
            FORWARDING.write_text(BEFORE.read_text())
            BEFORE.unlink()


@contextmanager
def _alone() -> Iterator[None]:
    """Hold a machine-wide lock against agents of other installations."""
    with Path(f"{BEFORE}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
