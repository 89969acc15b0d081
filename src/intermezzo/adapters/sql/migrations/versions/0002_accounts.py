"""Accounts, teams, credentials and the audit; the audit refuses every change to what it holds.

The tokens that there were belong to the account `local`, the only one that could have any. They keep their worth.
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_REFUSAL = "the audit is append-only"

_KEEP_TOKENS = (
    "INSERT INTO accounts (subject_folded, subject, role, standing, created_at) "
    "SELECT 'local', 'local', 'platform-admin', 'enabled', MIN(created_at) FROM tokens "
    "WHERE subject = 'local' HAVING COUNT(*) > 0",
    "INSERT INTO credentials "
    "(id, digest, subject_folded, use, label, scopes, created_at, expires_at, last_used_at) "
    "SELECT SUBSTR(digest, 1, 24), digest, 'local', 'api', 'local tools', "
    """'["admin", "connect", "read", "write"]', created_at, expires_at, 0 """
    """FROM tokens WHERE subject = 'local' AND scopes = '["all"]'""",
)


def upgrade() -> None:
    """Make them, and move the tokens."""
    op.create_table(
        "accounts",
        sa.Column("subject_folded", sa.Text, primary_key=True),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("standing", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "teams",
        sa.Column("name_folded", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
    )
    team = sa.ForeignKey("teams.name_folded", ondelete="CASCADE")
    op.create_table(
        "team_namespaces",
        sa.Column("namespace_folded", sa.Text, primary_key=True),
        sa.Column("namespace", sa.Text, nullable=False),
        sa.Column("team_folded", sa.Text, team, nullable=False, index=True),
    )
    op.create_table(
        "memberships",
        sa.Column("team_folded", sa.Text, sa.ForeignKey("teams.name_folded", ondelete="CASCADE"), primary_key=True),
        sa.Column("subject_folded", sa.Text, sa.ForeignKey("accounts.subject_folded"), primary_key=True, index=True),
        sa.Column("source", sa.Text, primary_key=True),
        sa.Column("role", sa.Text, nullable=False),
    )
    op.create_table(
        "credentials",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("digest", sa.Text, nullable=False, unique=True),
        sa.Column("subject_folded", sa.Text, sa.ForeignKey("accounts.subject_folded"), nullable=False, index=True),
        sa.Column("use", sa.Text, nullable=False),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("scopes", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.Column("last_used_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "audit",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("credential", sa.Text, nullable=False),
        sa.Column("peer", sa.Text, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("target", sa.Text, nullable=False),
        sa.Column("status", sa.Integer, nullable=False),
        sqlite_autoincrement=True,
    )
    for statement in (*_KEEP_TOKENS, *_guards(op.get_bind().dialect.name)):
        op.execute(statement)
    op.drop_table("tokens")


def _guards(dialect: str) -> list[str]:
    """Triggers that refuse to change, delete or replace a record of the audit."""
    if dialect == "sqlite":
        conditions = {
            "UPDATE": "",
            "DELETE": "",
            "INSERT": " WHEN EXISTS (SELECT 1 FROM audit WHERE seq = NEW.seq)",
        }
        return [
            f"CREATE TRIGGER audit_refuses_{what.lower()} BEFORE {what} ON audit{condition} "
            f"BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END"
            for what, condition in conditions.items()
        ]
    return [
        "CREATE FUNCTION audit_refuses() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{_REFUSAL}' USING ERRCODE = 'restrict_violation'; END $$",
        "CREATE TRIGGER audit_refuses_change BEFORE UPDATE OR DELETE OR TRUNCATE ON audit "
        "FOR EACH STATEMENT EXECUTE FUNCTION audit_refuses()",
    ]
