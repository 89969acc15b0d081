"""The tables of the configuration file about how people are known."""

from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from intermezzo.config.section import Section


class OpenIdConnect(Section):
    """The identity provider that people log in with; none if `issuer` is empty. `subject_claim` names the account: it
    must be one that people cannot choose freely. The secret stands in a file of its own."""

    issuer: str = ""
    client_id: str = ""
    client_secret_file: Path | None = None
    scopes: list[str] = Field(default_factory=lambda: ["openid", "profile", "email"])
    subject_claim: str = Field(default="sub", min_length=1)
    groups_claim: str = "groups"

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.issuer and urlsplit(self.issuer).scheme not in {"http", "https"}:
            raise ValueError("issuer is not an address such as https://login.example.org")
        if self.issuer and not self.client_id:
            raise ValueError("client_id is missing")
        return self


class TrustedHeaders(Section):
    """The headers in which a proxy of `listen.trusted_proxies` says who is asking, such as `kubeflow-userid`. They are
    ignored while `subject` is empty, and from anywhere else."""

    subject: str = ""
    groups: str = "kubeflow-groups"


class Groups(Section):
    """What groups of the identity provider mean here: by group, the team whose `members` or `admins` they are; and the
    one group of the platform administrators and of the auditors."""

    members: dict[str, str] = Field(default_factory=dict)
    admins: dict[str, str] = Field(default_factory=dict)
    platform_admins: str = ""
    auditors: str = ""


class AccountSettings(Section):
    """How people are known, beside the login links that administrators hand out."""

    oidc: OpenIdConnect = Field(default_factory=OpenIdConnect)
    headers: TrustedHeaders = Field(default_factory=TrustedHeaders)
    groups: Groups = Field(default_factory=Groups)
