"""Opens the store that an address means: `file:///…`, `s3://bucket/…` or `gs://bucket/…`. Connects to nothing yet."""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from intermezzo.domain.keeping import store_address
from intermezzo.node.stores.directory import DirectoryStore
from intermezzo.node.stores.remote import RemoteStore
from intermezzo.node.stores.store import ObjectStore

Opener = Callable[[str], ObjectStore]


def opened(url: str, timeout_s: float) -> ObjectStore:
    """The store at an address; `timeout_s` bounds each request to a provider. Raises InvalidInput."""
    url = store_address(url)
    if url.startswith("file:"):
        return DirectoryStore(Path(unquote(urlsplit(url).path)))
    return RemoteStore(url, timeout_s)
