"""Notices as signed HTTP requests to one address, as standardwebhooks.com describes them.

The signature covers id, time and body, so that a receiver can tell that it comes from here, unchanged and just now.
The secret is never sent and never logged; redirects are not followed.
"""

import base64
import binascii
import hashlib
import hmac
import json
import time

import httpx

from intermezzo.domain.errors import InvalidInput, Refused, Unreachable
from intermezzo.ports.notifier import Letter

TIMEOUT_S = 10.0
PREFIX = "whsec_"
SHORTEST_KEY, LONGEST_KEY = 24, 64
PASSING = frozenset({408, 409, 425, 429})


class WebhookNotifier:
    """Implements `ports.notifier.Notifier`. `secret` is what the receiver verifies with: `whsec_` and base64 of 24 to
    64 bytes. Raises `InvalidInput` for another one."""

    channel = "webhook"

    def __init__(self, url: str, secret: str) -> None:
        self._url = url
        self._key = _key(secret)

    async def send(self, letter: Letter) -> None:
        """POST it."""
        body = json.dumps(_body(letter), ensure_ascii=False).encode()
        sent_at = str(int(time.time()))
        headers = {
            "content-type": "application/json",
            "webhook-id": letter.notice.id,
            "webhook-timestamp": sent_at,
            "webhook-signature": f"v1,{self._signature(letter.notice.id, sent_at, body)}",
        }
        try:
            async with httpx.AsyncClient(timeout=TIMEOUT_S, trust_env=False) as client:
                answer = await client.post(self._url, content=body, headers=headers)
        except httpx.HTTPError as error:
            raise Unreachable(f"the webhook's receiver does not answer: {type(error).__name__}") from None
        _require_accepted(answer.status_code)

    def _signature(self, notice_id: str, sent_at: str, body: bytes) -> str:
        signed = f"{notice_id}.{sent_at}.".encode() + body
        return base64.b64encode(hmac.new(self._key, signed, hashlib.sha256).digest()).decode()


def _body(letter: Letter) -> dict[str, object]:
    notice = letter.notice
    return {
        "type": f"notice.{notice.sort.value}",
        "timestamp": notice.created_at,
        "data": {
            "id": notice.id,
            "subject": notice.subject,
            "namespace": notice.key.namespace if notice.key else "",
            "name": notice.key.name if notice.key else "",
            "title": letter.title,
            "text": letter.text,
            "link": letter.link,
            "moment": notice.moment,
            "snapshot_id": notice.snapshot_id,
            "expires_at": notice.expires_at,
        },
    }


def _require_accepted(status: int) -> None:
    if 200 <= status < 300:
        return
    message = f"the webhook's receiver answered {status}"
    if status in PASSING or status >= 500:
        raise Unreachable(message)
    raise Refused(message)


def _key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not secret.startswith(PREFIX) or not SHORTEST_KEY <= len(key) <= LONGEST_KEY:
        raise InvalidInput(
            "the webhook's secret is not one",
            f"It is {PREFIX} and the base64 of {SHORTEST_KEY} to {LONGEST_KEY} random bytes.",
            {"notify.webhook.secret_file": "does not hold a secret"},
        )
    return key
