"""One network namespace for each sandbox, joined to the host by a pair of virtual interfaces.

A sandbox reaches the world outside through address translation, but no other sandbox, no service of this host
and no link-local address. Everything made here carries the installation's mark and is removed with the last
sandbox. Addresses are put back before each restore, because the engine takes them away from the namespace.

The host's end of a pair has routes and no address: an address that comes or goes is a change of network to every
program that looks for one, and a browser on this machine would give up what it is loading (ERR_NETWORK_CHANGED).
"""

import asyncio
import json
from ipaddress import IPv4Network
from pathlib import Path

from intermezzo.domain.errors import EngineFailure
from intermezzo.node import files
from intermezzo.node.firewall import Firewall
from intermezzo.node.processes import run

NAMESPACES = Path("/run/netns")
SMALLEST = 30


class Network:
    """The namespaces and addresses of one installation."""

    def __init__(self, instance: str, subnet: IPv4Network, folder: Path) -> None:
        self._instance = instance
        self._subnet = subnet
        self._file = folder / "addresses.json"
        self._lock = asyncio.Lock()
        self._numbers: dict[str, int] = json.loads(self._file.read_text()) if self._file.exists() else {}
        self._firewall = Firewall(instance, self.prefix, subnet)

    @property
    def prefix(self) -> str:
        """What the names of all host interfaces of this installation begin with."""
        return f"imz{self._instance}"

    def namespace(self, uid: str) -> Path:
        """The path of a workspace's namespace."""
        return NAMESPACES / f"{self.prefix}-{self._numbers[uid]}"

    def address(self, uid: str) -> str:
        """The sandbox's address, the same for the whole life of a workspace."""
        return str(self._block(self._numbers[uid])[2])

    async def claim(self, uid: str) -> str:
        """Give a workspace its address, durably. Raises EngineFailure when none is left."""
        async with self._lock:
            if uid not in self._numbers:
                self._numbers[uid] = await self._free_number()
                files.write(self._file, json.dumps(self._numbers).encode())
            return self.address(uid)

    async def create(self, uid: str) -> None:
        """Make namespace, interfaces and addresses afresh; no packet passes until `join`. Raises EngineFailure."""
        async with self._lock:
            await self._delete(uid)
            name = self.namespace(uid).name
            link, hardware = self._link(uid), self._hardware(uid)
            size, _ = await asyncio.gather(_default_mtu(), self._firewall.ensure())
            await _ip(
                f"netns add {name}",
                f"link add {link} mtu {size} type veth peer name eth0 address {hardware} mtu {size} netns {name}",
            )
            _without_address(link)
            await _ip(
                "link set lo up",
                "link set eth0 up",
                f"addr add {self.address(uid)}/{SMALLEST} dev eth0",
                f"route add default via {self._outside(uid)}",
                namespace=name,
            )

    async def cut(self, uid: str) -> None:
        """Let no packet pass to or from the sandbox. Raises EngineFailure."""
        async with self._lock:
            await _ip(f"link set {self._link(uid)} down")

    async def join(self, uid: str) -> None:
        """Let packets pass again; those that were lost meanwhile are sent once more by TCP. Raises EngineFailure."""
        async with self._lock:
            await _ip(*self._joined(uid))

    async def remove(self, uid: str) -> list[str]:
        """Take a workspace's namespace and interfaces away; returns what could not be removed."""
        if uid not in self._numbers:
            return []
        async with self._lock:
            await self._delete(uid)
        return [str(self.namespace(uid))] if self.namespace(uid).exists() else []

    async def tidy(self) -> None:
        """With the last namespace gone, take back what was changed on the host."""
        async with self._lock:
            if not self.remains():
                await self._firewall.remove()

    def forget(self, uid: str) -> None:
        """Give the address of a deleted workspace back."""
        if self._numbers.pop(uid, None) is not None:
            files.write(self._file, json.dumps(self._numbers).encode())

    def remains(self) -> list[str]:
        """Namespaces and interfaces of this installation that exist now."""
        links = [entry.name for entry in Path("/sys/class/net").iterdir() if entry.name.startswith(self.prefix)]
        spaces = NAMESPACES.glob(f"{self.prefix}-*") if NAMESPACES.is_dir() else ()
        return links + [str(space) for space in spaces]

    async def _delete(self, uid: str) -> None:
        if self.namespace(uid).exists():
            await run(["ip", "netns", "delete", self.namespace(uid).name])
        if (Path("/sys/class/net") / self._link(uid)).exists():
            await run(["ip", "link", "delete", self._link(uid)])

    async def _free_number(self) -> int:
        routes = json.loads((await run(["ip", "-json", "-4", "route", "show", "table", "all"])).output or "[]")
        taken = [IPv4Network(r["dst"]) for r in routes if r["dst"][0].isdigit()]
        blocks = 1 << (SMALLEST - self._subnet.prefixlen)
        used = set(self._numbers.values())
        # Installations on one machine begin at different places, so that they rarely meet.
        first = int(self._instance, 16) % blocks
        for step in range(blocks):
            number = (first + step) % blocks
            if number not in used and not any(self._block(number).overlaps(other) for other in taken):
                return number
        raise EngineFailure(
            f"no address is free in {self._subnet}", "Choose a larger `subnet` in the node's configuration."
        )

    def _block(self, number: int) -> IPv4Network:
        size = 1 << (32 - SMALLEST)
        return IPv4Network((int(self._subnet.network_address) + number * size, SMALLEST))

    def _joined(self, uid: str) -> tuple[str, ...]:
        link = self._link(uid)
        # A known neighbour: a first packet that found the sandbox still silent would wait a second.
        neighbour = f"neigh replace {self.address(uid)} lladdr {self._hardware(uid)} nud permanent dev {link}"
        outside = self._outside(uid)
        here = f"route replace local {outside} dev {link} table local proto static scope host src {outside}"
        there = f"route replace {self._block(self._numbers[uid])} dev {link} proto static scope link src {outside}"
        return f"link set {link} up", here, there, neighbour

    def _outside(self, uid: str) -> str:
        """The host's address for a sandbox."""
        return str(self._block(self._numbers[uid])[1])

    def _link(self, uid: str) -> str:
        return f"{self.prefix}{self._numbers[uid]}"

    def _hardware(self, uid: str) -> str:
        mark = bytes.fromhex(self._instance)[:3] + self._numbers[uid].to_bytes(2, "big")
        return ":".join(f"{byte:02x}" for byte in (0x02, *mark))


def _without_address(link: str) -> None:
    """The kernel would give it one of IPv6 by itself."""
    setting = Path("/proc/sys/net/ipv6/conf") / link / "disable_ipv6"
    if setting.exists():
        setting.write_text("1")


async def _ip(*commands: str, namespace: str = "") -> None:
    where = ["-n", namespace] if namespace else []
    finished = await run(["ip", *where, "-batch", "-"], given="\n".join(commands) + "\n")
    if finished.code:
        raise EngineFailure("the sandbox's network could not be made", detail=finished.output.strip())


async def _default_mtu() -> int:
    routes = json.loads((await run(["ip", "-json", "-4", "route", "show", "default"])).output or "[]")
    if not routes:
        return 1500
    return int((Path("/sys/class/net") / routes[0]["dev"] / "mtu").read_text())
