"""The first tables; the ledger refuses every change to what it holds."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_REFUSAL = "the ledger is append-only"


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "workspaces",
        sa.Column("uid", sa.Text, primary_key=True),
        sa.Column("namespace", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("namespace_folded", sa.Text, nullable=False),
        sa.Column("name_folded", sa.Text, nullable=False),
        sa.Column("owner", sa.Text, nullable=False, index=True),
        sa.Column("phase", sa.Text, nullable=False, index=True),
        sa.Column("revision", sa.BigInteger, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
        sa.UniqueConstraint("namespace_folded", "name_folded"),
    )
    op.create_table(
        "reservations",
        sa.Column("workspace_uid", sa.Text, sa.ForeignKey("workspaces.uid", ondelete="CASCADE"), primary_key=True),
        sa.Column("node", sa.Text, nullable=False, index=True),
        sa.Column("cpu_millis", sa.BigInteger, nullable=False),
        sa.Column("memory_bytes", sa.BigInteger, nullable=False),
        sa.Column("accelerators", sa.Text, nullable=False),
        sa.Column("since", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "ledger",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
        sa.Column("workspace_uid", sa.Text, nullable=False, index=True),
        sa.Column("namespace", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("event", sa.Text, nullable=False),
        sa.Column("operation_id", sa.Text, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("details", sa.Text, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "runs",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("workspace_uid", sa.Text, nullable=False, index=True),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("started_at", sa.BigInteger, nullable=False),
        sa.Column("ended_at", sa.BigInteger, nullable=False),
        sa.Column("cell", sa.Integer, nullable=False),
        sa.Column("cells", sa.Integer, nullable=False),
        sa.Column("problem", sa.Text, nullable=False),
    )
    op.create_table(
        "tokens",
        sa.Column("digest", sa.Text, primary_key=True),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.Column("single_use", sa.Boolean, nullable=False),
        sa.Column("scopes", sa.Text, nullable=False),
    )
    op.create_table(
        "settings",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )
    for statement in _guards(op.get_bind().dialect.name):
        op.execute(statement)


def _guards(dialect: str) -> list[str]:
    """Triggers that refuse to change, delete or replace a ledger entry."""
    if dialect == "sqlite":
        conditions = {
            "UPDATE": "",
            "DELETE": "",
            "INSERT": " WHEN EXISTS (SELECT 1 FROM ledger WHERE seq = NEW.seq)",
        }
        return [
            f"CREATE TRIGGER ledger_refuses_{what.lower()} BEFORE {what} ON ledger{condition} "
            f"BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END"
            for what, condition in conditions.items()
        ]
    return [
        "CREATE FUNCTION ledger_refuses() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{_REFUSAL}' USING ERRCODE = 'restrict_violation'; END $$",
        "CREATE TRIGGER ledger_refuses_change BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger "
        "FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuses()",
    ]
