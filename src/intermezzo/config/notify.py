"""The tables of the configuration file about how notices reach people outside of the pages.

Secrets stand in files of their own, which the control plane alone reads: never in a value that is shown or handed on.
"""

from pathlib import Path
from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from intermezzo.config.section import Section
from intermezzo.domain.account import is_address


class Mail(Section):
    """The SMTP server that mail is handed to; none if `host` is empty. `authorities` is a file of certificates (PEM)
    that are trusted in place of the machine's own."""

    host: str = ""
    port: int = Field(default=587, ge=1, le=65535)
    security: Literal["starttls", "tls", "none"] = "starttls"
    sender: str = ""
    user: str = ""
    password_file: Path | None = None
    authorities: Path | None = None

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.host and not is_address(self.sender):
            raise ValueError("sender is not an address such as intermezzo@example.org")
        if bool(self.user) != (self.password_file is not None):
            raise ValueError("user and password_file belong together")
        if self.user and self.security == "none":
            raise ValueError("a password is not sent without encryption; choose starttls or tls")
        return self


class Webhook(Section):
    """The address that notices are sent to; none if `url` is empty."""

    url: str = ""
    secret_file: Path | None = None

    @field_validator("url")
    @classmethod
    def _is_an_address(cls, url: str) -> str:
        parts = urlsplit(url)
        if url and (parts.scheme not in {"http", "https"} or not parts.hostname):
            raise ValueError("is not an address such as https://chat.example.org/hook")
        if parts.username or parts.password:
            raise ValueError("must not hold a name or password")
        return url

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.url and self.secret_file is None:
            raise ValueError("secret_file is missing")
        return self


class Notify(Section):
    """The channels beside the pages and the notebook."""

    smtp: Mail = Field(default_factory=Mail)
    webhook: Webhook = Field(default_factory=Webhook)
