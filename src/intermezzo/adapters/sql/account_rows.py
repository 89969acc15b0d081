"""Between rows and the values about people. The only place that knows how they are written down."""

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import RowMapping

from intermezzo.domain.access import Role, Scope, TeamRole
from intermezzo.domain.account import (
    Account,
    AuditRecord,
    Bearer,
    Contact,
    Credential,
    Membership,
    Person,
    Source,
    Standing,
    Use,
    stronger,
)
from intermezzo.domain.names import fold


def account_row(account: Account) -> dict[str, Any]:
    """An account as a row."""
    return {
        "subject_folded": fold(account.subject),
        "subject": account.subject,
        "role": account.role.value,
        "standing": account.standing.value,
        "created_at": account.created_at,
        **contact_row(account.contact),
    }


def contact_row(contact: Contact) -> dict[str, Any]:
    """The columns of an account about how it is written to."""
    return {
        "contact": contact.address,
        "contact_language": contact.language,
        "contact_timezone": contact.timezone,
    }


def account(row: RowMapping) -> Account:
    """The account of a row."""
    contact = Contact(row["contact"], row["contact_language"], row["contact_timezone"])
    return Account(row["subject"], Role(row["role"]), Standing(row["standing"]), row["created_at"], contact)


def membership(row: RowMapping) -> Membership:
    """The membership of a row that was joined with its team and account."""
    return Membership(row["team"], row["subject"], TeamRole(row["role"]), Source(row["source"]))


def credential_row(credential: Credential) -> dict[str, Any]:
    """A credential as a row."""
    return {
        "id": credential.id,
        "digest": credential.digest,
        "subject_folded": fold(credential.subject),
        "use": credential.use.value,
        "label": credential.label,
        "scopes": json.dumps(sorted(credential.scopes)),
        "created_at": credential.created_at,
        "expires_at": credential.expires_at,
        "last_used_at": credential.last_used_at,
    }


def credential(row: RowMapping) -> Credential:
    """The credential of a row that was joined with its account."""
    return Credential(
        id=row["id"],
        digest=row["digest"],
        subject=row["subject"],
        use=Use(row["use"]),
        label=row["label"],
        scopes=frozenset(Scope(scope) for scope in json.loads(row["scopes"])),
        created_at=row["issued_at"],
        expires_at=row["expires_at"],
        last_used_at=row["last_used_at"],
    )


def person(rows: Sequence[RowMapping]) -> Person:
    """Of the rows of one account, one for each namespace that it has a role in."""
    teams: dict[str, TeamRole] = {}
    for row in rows:
        if row["namespace_folded"] is not None:
            known = teams.get(row["namespace_folded"])
            teams[row["namespace_folded"]] = stronger(known, TeamRole(row["team_role"]))
    return Person(account(rows[0]), teams)


def bearer(rows: Sequence[RowMapping]) -> Bearer:
    """Of the rows of one credential, joined with those of its account."""
    return Bearer(credential(rows[0]), person(rows))


def audit_row(record: AuditRecord) -> dict[str, Any]:
    """A record as a row, without the number that the database gives."""
    return {
        "at": record.at,
        "subject": record.subject,
        "credential": record.credential,
        "peer": record.peer,
        "action": record.action,
        "target": record.target,
        "status": record.status,
    }


def audit_record(row: RowMapping) -> AuditRecord:
    """The record of a row."""
    return AuditRecord(**row)
