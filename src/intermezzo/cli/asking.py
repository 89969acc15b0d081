"""Asks before something that nothing undoes."""

import os

import click

from intermezzo.domain.errors import InvalidInput


def confirm(
    question: str, unasked: str = "delete asks first, and there is nobody to ask", hint: str = "add --yes"
) -> None:
    """Ends the command unless somebody says yes. Raises `InvalidInput` with `unasked` where nobody is at a terminal."""
    if not os.isatty(0):
        raise InvalidInput(unasked, hint)
    click.confirm(question, abort=True, err=True)
