"""The files of a workspace's home, as its own Jupyter server lists them: names, sizes, and contents as sha256.

Only what is visible is listed. Reading changes nothing in the session: no cell is run for it.
"""

from collections.abc import Iterable, Sequence
from urllib.parse import quote

import httpx
from pydantic import BaseModel

from intermezzo.client.workspace_models import ConnectionShape
from intermezzo.reports.trial import StoredFile

MOST_FILES = 200
LARGEST_HASHED = 1 << 28
ANSWER_S = 60.0


class _Item(BaseModel):
    path: str
    type: str
    size: int | None = None
    hash: str | None = None


class _Folder(BaseModel):
    content: list[_Item]


def listing(connection: ConnectionShape) -> tuple[StoredFile, ...]:
    """At most 200 visible files of home, by path; none where the server does not answer."""
    headers = {"Authorization": f"token {connection.token}"}
    found: list[StoredFile] = []
    with httpx.Client(base_url=connection.base_url, headers=headers, timeout=ANSWER_S, trust_env=False) as client:
        try:
            _walk(client, "", found)
        except (httpx.HTTPError, ValueError):
            return ()
    return tuple(sorted(found, key=lambda file: file.path))


def differences(before: Iterable[StoredFile], after: Iterable[StoredFile]) -> tuple[str, ...]:
    """The paths that are new, gone or changed."""
    one, other = ({file.path: (file.bytes, file.sha256) for file in files} for files in (before, after))
    return tuple(sorted(path for path in {*one, *other} if one.get(path) != other.get(path)))


def is_complete(files: Sequence[StoredFile]) -> bool:
    """Whether a listing holds every visible file with what is in it."""
    return 0 < len(files) < MOST_FILES and all(file.sha256 for file in files)


def address_of(path: str) -> str:
    """Where the server tells of a path. A folder named `checkpoints` must be told from what the server calls so."""
    segments = ("%63heckpoints" if segment == "checkpoints" else quote(segment) for segment in path.split("/"))
    return "api/contents/" + "/".join(segments)


def _walk(client: httpx.Client, folder: str, found: list[StoredFile]) -> None:
    for item in _Folder.model_validate_json(_asked(client, folder, {"content": 1})).content:
        if len(found) >= MOST_FILES:
            return
        if item.type == "directory":
            _walk(client, item.path, found)
        else:
            found.append(_file(client, item))


def _file(client: httpx.Client, item: _Item) -> StoredFile:
    size, sha256 = item.size or 0, ""
    if size <= LARGEST_HASHED:
        sha256 = _Item.model_validate_json(_asked(client, item.path, {"content": 0, "hash": 1})).hash or ""
    return StoredFile(path=item.path, bytes=size, sha256=sha256, checkpoint="checkpoint" in item.path.lower())


def _asked(client: httpx.Client, path: str, params: dict[str, int]) -> bytes:
    answer = client.get(address_of(path), params=params)
    answer.raise_for_status()
    return answer.content
