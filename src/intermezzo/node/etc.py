"""The `/etc` that sandboxes see: made for them, holding nothing of the host's but what programs need to work.

It must never carry the host's accounts, keys or secrets. It is shared by all sandboxes and mounted read-only;
what differs between them is mounted over it file by file.
"""

import ipaddress
from collections.abc import Iterable
from pathlib import Path

from intermezzo.node import files

COPIED_FILES = ("ld.so.cache", "ld.so.conf", "localtime", "timezone", "mime.types", "services", "protocols", "pip.conf")
COPIED_FOLDERS = ("ssl/certs", "alternatives", "fonts", "ca-certificates")
RESOLVERS = (Path("/etc/resolv.conf"), Path("/run/systemd/resolve/resolv.conf"))
KERNEL_CONFIGURATION = "ipython/ipython_kernel_config.py"
LAB_SETTINGS = "jupyter/labconfig/default_setting_overrides.json"


def build(folder: Path, guest: Path, uid: int, gid: int, host: Path = Path("/etc")) -> None:
    """Make or refresh the directory, in place: running sandboxes have it mounted. Raises OSError."""
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    for name, text in _written(uid, gid).items():
        _put(folder / name, text.encode())
    for name in COPIED_FILES:
        if (host / name).is_file() and (host / name).stat().st_mode & 0o004:
            _put(folder / name, (host / name).read_bytes())
    for name in COPIED_FOLDERS:
        if (host / name).is_dir():
            _copy_folder(host / name, folder / name)
    _put(folder / KERNEL_CONFIGURATION, (guest / "ipython_kernel_config.py").read_bytes())
    _put(folder / LAB_SETTINGS, (guest / "jupyterlab_settings.json").read_bytes())


def hosts(address: str, hostname: str) -> str:
    """The hosts file of one sandbox."""
    return f"127.0.0.1 localhost\n::1 localhost ip6-localhost\n{address} {hostname}\n"


def nameservers(paths: Iterable[Path] = RESOLVERS) -> list[str]:
    """The name servers that can be reached from another network namespace: those that are not on loopback."""
    for path in paths:
        found = _nameservers(path.read_text(encoding="utf-8")) if path.is_file() else []
        if found:
            return found
    return []


def _nameservers(text: str) -> list[str]:
    found = []
    for line in text.splitlines():
        fields = line.split()
        if len(fields) < 2 or fields[0] != "nameserver":
            continue
        try:
            address = ipaddress.ip_address(fields[1].partition("%")[0])
        except ValueError:
            continue
        if address.version == 4 and not address.is_loopback:
            found.append(str(address))
    return found


def _search_domains() -> str:
    text = RESOLVERS[0].read_text(encoding="utf-8") if RESOLVERS[0].is_file() else ""
    return "".join(f"{line}\n" for line in text.splitlines() if line.split()[:1] == ["search"])


def _written(uid: int, gid: int) -> dict[str, str]:
    servers = "".join(f"nameserver {server}\n" for server in nameservers())
    return {
        "passwd": (
            "root:x:0:0:root:/nonexistent:/usr/sbin/nologin\n"
            f"jovyan:x:{uid}:{gid}::/home/jovyan:/bin/bash\n"
            "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
        ),
        "group": f"root:x:0:\njovyan:x:{gid}:\nnogroup:x:65534:\n",
        "hostname": "localhost\n",
        "hosts": hosts("127.0.0.1", "localhost"),
        "resolv.conf": _search_domains() + servers,
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n",
        "host.conf": "multi on\n",
        "shells": "/bin/sh\n/bin/bash\n",
    }


def _put(path: Path, content: bytes) -> None:
    if path.is_file() and path.read_bytes() == content:
        return
    path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    files.write(path, content, 0o644)


def _copy_folder(source: Path, target: Path) -> None:
    """Copy what is missing or differs, but nothing that not everybody may read on the host."""
    target.mkdir(mode=0o755, parents=True, exist_ok=True)
    for entry in source.iterdir():
        copy = target / entry.name
        if entry.is_symlink():
            _put_link(copy, entry.readlink())
        elif not entry.stat().st_mode & 0o004:
            continue
        elif entry.is_dir():
            _copy_folder(entry, copy)
        elif entry.is_file():
            _put(copy, entry.read_bytes())


def _put_link(path: Path, leads_to: Path) -> None:
    if path.is_symlink() and path.readlink() == leads_to:
        return
    aside = path.with_name(f".{path.name}.new")
    aside.unlink(missing_ok=True)
    aside.symlink_to(leads_to)
    aside.replace(path)
