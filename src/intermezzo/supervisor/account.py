"""Chooses the account for the control plane: never more rights than it needs, and one that can read the program.

Only the node agent keeps root. Where the wanted account cannot read the installation (one under /root, say), the
control plane stays root in name but is stripped of every capability, and that is said aloud.
"""

import os
import pwd
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from intermezzo.domain.errors import InvalidInput

STRIPPED = ("setpriv", "--bounding-set", "-all", "--inh-caps", "-all", "--no-new-privs", "--")


@dataclass(frozen=True, slots=True)
class Account:
    """Who the control plane runs as; `prefix` is put before its command, `remark` is for the one who starts it."""

    uid: int
    gid: int
    prefix: tuple[str, ...] = ()
    remark: str = ""

    @property
    def changes(self) -> bool:
        """Whether the process must change its user."""
        return self.uid != os.geteuid()


def choose(user: str) -> Account:
    """The account for the control plane. Raises `InvalidInput` for an unknown user name."""
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid())
    wanted = _invoking_user() or _named(user)
    if wanted.uid == 0 or _can_read(wanted):
        return wanted if wanted.uid else Account(0, 0, STRIPPED)
    name = pwd.getpwuid(wanted.uid).pw_name
    remark = (
        f"The account {name} cannot run {Path(sys.executable).resolve()}: the control plane runs as root without any "
        "capability. For an account of its own, use a Python that everybody may run, such as Debian's."
    )
    return Account(0, 0, STRIPPED, remark)


def _invoking_user() -> Account | None:
    if "SUDO_UID" not in os.environ:
        return None
    return Account(int(os.environ["SUDO_UID"]), int(os.environ.get("SUDO_GID", os.environ["SUDO_UID"])))


def _named(user: str) -> Account:
    try:
        entry = pwd.getpwuid(int(user)) if user.isdigit() else pwd.getpwnam(user)
    except KeyError:
        raise InvalidInput(
            f"there is no user {user!r}", "Set control.user to an existing account.", {"control.user": "no such user"}
        ) from None
    return Account(entry.pw_uid, entry.pw_gid)


def _can_read(account: Account) -> bool:
    try:
        subprocess.run(
            [sys.executable, "-c", "import intermezzo.config.settings"],
            user=account.uid,
            group=account.gid,
            extra_groups=[],
            cwd="/",
            capture_output=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return False
    return True
