"""Stores at a provider of object storage: S3 and what speaks its protocol (`s3://…`), and Google's (`gs://…`).

Who this node is to the provider is taken from the agent's environment, as the provider's own tools take it, and is
never part of an address or of an error.
"""

import configparser
import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

import obstore
from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError
from obstore.store import GCSStore, S3Store

from intermezzo.domain.errors import InvalidInput
from intermezzo.node.stores.store import Absent, Stored, StoreTrouble, refused, silent

T = TypeVar("T")
RETRIES = 2
LARGEST = 64 << 20  # nothing that this node has sent is that large, and no memory is given to what is
ANSWERED = ("Server returned non-2xx status code: 4", "status code: 501")


class RemoteStore:
    """Objects below the path of an address. `timeout_s` bounds each request, and twice that its repetitions together.

    `options` are obstore's settings, such as `endpoint`, in place of what the environment says.
    """

    def __init__(self, url: str, timeout_s: float, options: Mapping[str, str] | None = None) -> None:
        self.url = url
        self._store = _opened(url, timeout_s, dict(options or {}))

    def put(self, name: str, content: bytes) -> None:
        """Keep an object. Raises StoreSilent or StoreRefused."""
        self._ask("to keep an object", lambda: obstore.put(self._store, name, content, use_multipart=False))

    def get(self, name: str) -> bytes:
        """Its content. Raises Absent, StoreSilent or StoreRefused."""
        return self._ask("to read an object", lambda: self._read(name))

    def _read(self, name: str) -> bytes:
        found = obstore.get(self._store, name)
        if found.meta["size"] > LARGEST:
            raise refused(self.url, f"to read an object: it has {found.meta['size']} bytes")
        return found.bytes().to_bytes()

    def list(self, folder: str) -> list[Stored]:
        """All below a folder. Raises StoreSilent or StoreRefused."""
        pages = self._ask("to list its objects", lambda: list(obstore.list(self._store, folder or None)))
        return [Stored(each["path"], each["size"]) for page in pages for each in page]

    def delete(self, names: Sequence[str]) -> None:
        """Delete objects. Raises StoreSilent or StoreRefused."""
        for name in names:
            with contextlib.suppress(Absent):
                self._ask("to delete an object", partial(obstore.delete, self._store, name))

    def _ask(self, doing: str, ask: Callable[[], T]) -> T:
        try:
            return ask()
        except FileNotFoundError as error:
            if "NoSuchBucket" in str(error):
                raise refused(self.url, f"{doing}: there is no such bucket") from error
            raise Absent(f"{self.url} has no such object") from error
        except (BaseError, OSError, ValueError) as error:
            raise self._trouble(doing, error) from None

    def _trouble(self, doing: str, error: Exception) -> StoreTrouble:
        said = str(error).partition("\n\nDebug source")[0]
        if isinstance(error, PermissionDeniedError | UnauthenticatedError):
            return refused(self.url, f"{doing}: this node may not", said)
        if any(sign in said for sign in ANSWERED):
            return refused(self.url, doing, said)
        return silent(self.url, said)


def shared_credentials(environment: Mapping[str, str]) -> dict[str, str]:
    """What AWS's own tools would read from their credentials file; empty where the environment says it already."""
    if "AWS_ACCESS_KEY_ID" in environment:
        return {}
    home = environment.get("HOME", "")
    path = environment.get("AWS_SHARED_CREDENTIALS_FILE", f"{home}/.aws/credentials" if home else "")
    parser = configparser.ConfigParser(interpolation=None)
    if not path or not parser.read(Path(path), encoding="utf-8"):
        return {}
    profile = environment.get("AWS_PROFILE", "default")
    names = {"aws_access_key_id": "access_key_id", "aws_secret_access_key": "secret_access_key"}
    names["aws_session_token"] = "session_token"  # noqa: S105
    return {ours: parser[profile][theirs] for theirs, ours in names.items() if parser.has_option(profile, theirs)}


def _opened(url: str, timeout_s: float, options: dict[str, Any]) -> S3Store | GCSStore:
    bound = timedelta(seconds=timeout_s)
    client: Any = {"timeout": bound, "connect_timeout": min(bound, timedelta(seconds=10))}
    client["allow_http"] = _may_be_plain(options.pop("allow_http", ""))
    retry: Any = {"max_retries": RETRIES, "retry_timeout": bound}
    try:
        if url.startswith("gs://"):
            return GCSStore.from_url(url, config=cast(Any, options), client_options=client, retry_config=retry)
        # The server compares what arrives with a checksum that is sent along.
        given = shared_credentials(os.environ) | {"checksum_algorithm": "SHA256"} | options
        return S3Store.from_url(url, config=cast(Any, given), client_options=client, retry_config=retry)
    except BaseError as error:
        said = str(error).partition("\n\nDebug source")[0]
        problem = f"the snapshot store {url} cannot be used: {said}"
        raise InvalidInput(problem, "Look at the credentials in the node agent's environment.") from None


def _may_be_plain(asked: str) -> bool:
    """Without encryption on the way only where that was said, in the words of the provider's tools. Raises InvalidInput
    for an address that needs it and where it was not."""
    allowed = (asked or os.environ.get("AWS_ALLOW_HTTP", "")).lower() in {"1", "true"}
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL", "")
    if endpoint.startswith("http://") and not allowed:
        raise InvalidInput(
            "AWS_ENDPOINT_URL is not https, so that snapshots would be sent in the clear",
            "Use https, or set AWS_ALLOW_HTTP=true for the node agent.",
        )
    return allowed
