"""What people did in workspaces: the newest moment of each sort."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "activity",
        sa.Column("workspace_uid", sa.Text, sa.ForeignKey("workspaces.uid", ondelete="CASCADE"), primary_key=True),
        sa.Column("source", sa.Text, primary_key=True),
        sa.Column("at", sa.BigInteger, nullable=False),
    )
