"""Files that simulated sessions hold open, and how they stand: a file that holds something else was written to."""

import hashlib
from collections.abc import Iterable, Mapping

from intermezzo.domain.held import Absence, ChangedFile, HeldFile, Standing, change
from intermezzo.domain.orders import SandboxSpec

Volumes = Mapping[str, Mapping[str, bytes]]
"""Contents by volume id and path."""


def held(spec: SandboxSpec, opened: Iterable[str], volumes: Volumes) -> tuple[HeldFile, ...]:
    """Those of the opened files, by their names in the sandbox, that are there, as a snapshot records them."""
    mounts = {spec.home_mount: spec.volume_id, **{mount.path: mount.volume_id for mount in spec.mounts}}
    found = []
    for name in sorted(opened):
        for mount, volume in mounts.items():
            path = name.removeprefix(f"{mount}/")
            standing = _standing(volumes, volume, path) if path != name else Absence.MISSING
            if isinstance(standing, Standing):
                found.append(HeldFile(volume, mount, path, standing))
    return tuple(found)


def changed(files: Iterable[HeldFile], volumes: Volumes) -> tuple[ChangedFile, ...]:
    """Those that are not what they were."""
    looked = (change(each, _standing(volumes, each.volume_id, each.path)) for each in files)
    return tuple(found for found in looked if found is not None)


def _standing(volumes: Volumes, volume: str, path: str) -> Standing | Absence:
    content = volumes.get(volume, {}).get(path)
    if content is None:
        return Absence.MISSING
    return Standing(len(content), int.from_bytes(hashlib.sha256(content).digest()[:8]), 1)
