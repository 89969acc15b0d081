"""The tables as the queries see them. What makes and changes them stands in `migrations`.

A workspace is kept whole as a JSON document; what is searched for stands in columns beside it. Amounts and times
are whole numbers (bytes, thousandths of a CPU, epoch milliseconds).
"""

from sqlalchemy import BigInteger, Column, ForeignKey, Integer, MetaData, Table, Text, UniqueConstraint

metadata = MetaData()

# SQLite gives out row numbers for INTEGER keys only.
_Serial = BigInteger().with_variant(Integer, "sqlite")

workspaces = Table(
    "workspaces",
    metadata,
    Column("uid", Text, primary_key=True),
    Column("namespace", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("namespace_folded", Text, nullable=False),
    Column("name_folded", Text, nullable=False),
    Column("owner", Text, nullable=False, index=True),
    Column("phase", Text, nullable=False, index=True),
    Column("revision", BigInteger, nullable=False),
    Column("document", Text, nullable=False),
    UniqueConstraint("namespace_folded", "name_folded"),
)

reservations = Table(
    "reservations",
    metadata,
    Column("workspace_uid", Text, ForeignKey("workspaces.uid", ondelete="CASCADE"), primary_key=True),
    Column("node", Text, nullable=False, index=True),
    Column("cpu_millis", BigInteger, nullable=False),
    Column("memory_bytes", BigInteger, nullable=False),
    Column("accelerators", Text, nullable=False),
    Column("since", BigInteger, nullable=False),
)

ledger = Table(
    "ledger",
    metadata,
    Column("seq", _Serial, primary_key=True, autoincrement=True),
    Column("workspace_uid", Text, nullable=False, index=True),
    Column("namespace", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("event", Text, nullable=False),
    Column("operation_id", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("details", Text, nullable=False),
    sqlite_autoincrement=True,
)

volumes = Table(
    "volumes",
    metadata,
    Column("id", Text, primary_key=True),
    Column("namespace", Text, nullable=False),
    Column("namespace_folded", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("purpose", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("deleting_at", BigInteger, nullable=False),
    UniqueConstraint("namespace_folded", "name"),
)

volume_users = Table(
    "volume_users",
    metadata,
    Column("workspace_uid", Text, ForeignKey("workspaces.uid", ondelete="CASCADE"), primary_key=True),
    Column("volume_id", Text, primary_key=True, index=True),
)

runs = Table(
    "runs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("workspace_uid", Text, nullable=False, index=True),
    Column("source", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("started_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger, nullable=False),
    Column("cell", Integer, nullable=False),
    Column("cells", Integer, nullable=False),
    Column("problem", Text, nullable=False),
)

activity = Table(
    "activity",
    metadata,
    Column("workspace_uid", Text, ForeignKey("workspaces.uid", ondelete="CASCADE"), primary_key=True),
    Column("source", Text, primary_key=True),
    Column("at", BigInteger, nullable=False),
)

accounts = Table(
    "accounts",
    metadata,
    Column("subject_folded", Text, primary_key=True),
    Column("subject", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("standing", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("contact", Text, nullable=False, server_default=""),
    Column("contact_language", Text, nullable=False, server_default=""),
    Column("contact_timezone", Text, nullable=False, server_default=""),
)

teams = Table(
    "teams",
    metadata,
    Column("name_folded", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
)

team_namespaces = Table(
    "team_namespaces",
    metadata,
    Column("namespace_folded", Text, primary_key=True),
    Column("namespace", Text, nullable=False),
    Column("team_folded", Text, ForeignKey("teams.name_folded", ondelete="CASCADE"), nullable=False, index=True),
)

memberships = Table(
    "memberships",
    metadata,
    Column("team_folded", Text, ForeignKey("teams.name_folded", ondelete="CASCADE"), primary_key=True),
    Column("subject_folded", Text, ForeignKey("accounts.subject_folded"), primary_key=True, index=True),
    Column("source", Text, primary_key=True),
    Column("role", Text, nullable=False),
)

credentials = Table(
    "credentials",
    metadata,
    Column("id", Text, primary_key=True),
    Column("digest", Text, nullable=False, unique=True),
    Column("subject_folded", Text, ForeignKey("accounts.subject_folded"), nullable=False, index=True),
    Column("use", Text, nullable=False),
    Column("label", Text, nullable=False),
    Column("scopes", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Column("last_used_at", BigInteger, nullable=False),
)

audit = Table(
    "audit",
    metadata,
    Column("seq", _Serial, primary_key=True, autoincrement=True),
    Column("at", BigInteger, nullable=False),
    Column("subject", Text, nullable=False),
    Column("credential", Text, nullable=False),
    Column("peer", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("status", Integer, nullable=False),
    sqlite_autoincrement=True,
)

documents = Table(
    "documents",
    metadata,
    Column("kind", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("text", Text, nullable=False),
    Column("revision", BigInteger, nullable=False),
    Column("applied_by", Text, nullable=False),
    Column("applied_at", BigInteger, nullable=False),
)

leases = Table(
    "leases",
    metadata,
    Column("workspace_uid", Text, ForeignKey("workspaces.uid", ondelete="CASCADE"), primary_key=True),
    Column("until", BigInteger, nullable=False),
    Column("source", Text, nullable=False),
    Column("asked_by", Text, nullable=False),
    Column("asked_at", BigInteger, nullable=False),
    Column("reason", Text, nullable=False),
)

schedules = Table(
    "schedules",
    metadata,
    Column("id", Text, primary_key=True),
    Column("workspace_uid", Text, ForeignKey("workspaces.uid", ondelete="CASCADE"), nullable=False, index=True),
    Column("action", Text, nullable=False),
    Column("rule", Text, nullable=False),
    Column("zone", Text, nullable=False),
    Column("set_by", Text, nullable=False),
    Column("set_at", BigInteger, nullable=False),
    Column("done_until", BigInteger, nullable=False),
    Column("held_until", BigInteger, nullable=False),
)

notices = Table(
    "notices",
    metadata,
    Column("id", Text, primary_key=True),
    Column("workspace_uid", Text, nullable=False, index=True),
    Column("sort", Text, nullable=False),
    Column("occasion", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Column("dismissed_at", BigInteger, nullable=False),
    UniqueConstraint("workspace_uid", "sort", "occasion", "subject"),
)

deliveries = Table(
    "deliveries",
    metadata,
    Column("notice_id", Text, ForeignKey("notices.id", ondelete="CASCADE"), primary_key=True),
    Column("channel", Text, primary_key=True),
    Column("state", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("not_before", BigInteger, nullable=False),
    Column("problem", Text, nullable=False),
)

settings = Table(
    "settings",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)
