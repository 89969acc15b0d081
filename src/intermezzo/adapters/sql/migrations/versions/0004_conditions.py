"""What administrators and owners set: documents of kinds and policies, leases, schedules, notices; where a person is
written to; whose a volume is, and which workspaces use it."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def _workspaces() -> sa.ForeignKey:
    return sa.ForeignKey("workspaces.uid", ondelete="CASCADE")


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "documents",
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("revision", sa.BigInteger, nullable=False),
        sa.Column("applied_by", sa.Text, nullable=False),
        sa.Column("applied_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "leases",
        sa.Column("workspace_uid", sa.Text, _workspaces(), primary_key=True),
        sa.Column("until", sa.BigInteger, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("asked_by", sa.Text, nullable=False),
        sa.Column("asked_at", sa.BigInteger, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
    )
    op.create_table(
        "schedules",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("workspace_uid", sa.Text, _workspaces(), nullable=False, index=True),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("rule", sa.Text, nullable=False),
        sa.Column("zone", sa.Text, nullable=False),
        sa.Column("set_by", sa.Text, nullable=False),
        sa.Column("set_at", sa.BigInteger, nullable=False),
        sa.Column("done_until", sa.BigInteger, nullable=False),
        # How long a keep-awake lease holds back the occurrence that is due; 0 where none does.
        sa.Column("held_until", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "notices",
        sa.Column("id", sa.Text, primary_key=True),
        # Empty for an announcement to everybody.
        sa.Column("workspace_uid", sa.Text, nullable=False, index=True),
        sa.Column("sort", sa.Text, nullable=False),
        # What makes it one notice however often it is thought of, such as the moment of the pause it warns of.
        sa.Column("occasion", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.Column("dismissed_at", sa.BigInteger, nullable=False),
        sa.UniqueConstraint("workspace_uid", "sort", "occasion", "subject"),
    )
    op.create_table(
        "deliveries",
        sa.Column("notice_id", sa.Text, sa.ForeignKey("notices.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("channel", sa.Text, primary_key=True),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("not_before", sa.BigInteger, nullable=False),
        sa.Column("problem", sa.Text, nullable=False),
    )
    for name in ("contact", "contact_language", "contact_timezone"):
        op.add_column("accounts", sa.Column(name, sa.Text, nullable=False, server_default=""))
    volumes = op.create_table(
        "volumes",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("namespace", sa.Text, nullable=False),
        sa.Column("namespace_folded", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        # "home" or "data".
        sa.Column("purpose", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        # When somebody asked for it to be deleted; 0 where nobody did.
        sa.Column("deleting_at", sa.BigInteger, nullable=False),
        sa.UniqueConstraint("namespace_folded", "name"),
    )
    users = op.create_table(
        "volume_users",
        sa.Column("workspace_uid", sa.Text, _workspaces(), primary_key=True),
        sa.Column("volume_id", sa.Text, primary_key=True, index=True),
    )
    _write_homes(volumes, users)


def _write_homes(volumes: sa.Table, users: sa.Table) -> None:
    """Until now a home volume was known from its workspace alone, and its name was its id."""
    names = ("uid", "namespace", "namespace_folded", "owner", "document")
    records = sa.table("workspaces", *(sa.column(name, sa.Text) for name in names))
    homes, used = {}, []
    for row in op.get_bind().execute(sa.select(records)).mappings():
        document = json.loads(row["document"])
        volume_id = document["volume_id"]
        homes[volume_id] = {
            "id": volume_id,
            "namespace": row["namespace"],
            "namespace_folded": row["namespace_folded"],
            "name": volume_id,
            "owner": row["owner"],
            "purpose": "home",
            "created_at": document["created_at"],
            "deleting_at": 0,
        }
        used.append({"workspace_uid": row["uid"], "volume_id": volume_id})
    op.bulk_insert(volumes, list(homes.values()))
    op.bulk_insert(users, used)
