"""Brings the tables of a database up to date with this program, in the transaction that it is given."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Connection

from intermezzo.domain.errors import Refused


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Run what has not been run yet, up to a revision. Raises `Refused` for tables that a newer version wrote."""
    config = configuration()
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, revision)
    except CommandError as error:
        hint = "Start the version that wrote it, or a newer one; nothing was changed."
        raise Refused(f"the database was written by another version: {error}", hint) from error


def configuration() -> Config:
    """Where the steps from one form of the tables to the next stand."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config
