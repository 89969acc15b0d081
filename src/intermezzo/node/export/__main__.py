"""The process that makes one archive: what to export comes as JSON on its standard input, the archive leaves on its
standard output after one line that says how large it will be. It exits with 0 only if the archive is whole.

It starts as the node agent runs, opens the home, and becomes the sandbox's user before it reads anything in it.
"""

import json
import os
import resource
import sys
import tempfile
import time
from typing import Any

from intermezzo.archives import package_list, requirements
from intermezzo.domain.export import (
    HOME,
    MANIFEST,
    PACKAGES,
    README,
    REQUIREMENTS,
    SUMS,
    Package,
    PackageList,
)
from intermezzo.node.export.account import Account
from intermezzo.node.export.archive import Archive
from intermezzo.node.export.count import counted
from intermezzo.node.export.descriptors import FOLDER
from intermezzo.node.export.packages import in_home
from intermezzo.node.export.sink import Sink

COUNTING_S = 5.0
NICENESS = 10
UNWHOLE = 1


def main() -> int:
    """Make the archive; returns the exit code."""
    asked = json.load(sys.stdin)
    os.nice(NICENESS)  # sessions come first
    with tempfile.TemporaryFile(dir=asked["aside"]) as sums:
        home = os.open(asked["home"], FOLDER)
        _become(asked["uid"], asked["gid"])
        try:
            _write(asked, home, Account(sums))
        except OSError as error:
            sys.stderr.write(f"{error.strerror or error}\n")
            return UNWHOLE
    return 0


def _become(uid: int, gid: int) -> None:
    """Give up what the node agent may and the sandbox's user may not. There is no way back."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)


def _write(asked: dict[str, Any], home: int, account: Account) -> None:
    files, size = counted(home, COUNTING_S)
    os.write(sys.stdout.fileno(), json.dumps({"files": files, "size": size}).encode() + b"\n")
    sink, at = Sink(sys.stdout.fileno()), time.time()
    archive = Archive(asked["folder"], sink, account)
    found = PackageList(asked["python"], (*(Package(*each) for each in asked["packages"]), *in_home(home)))
    archive.text(README, asked["readme"], at)
    archive.text(REQUIREMENTS, requirements(found), at)
    archive.text(PACKAGES, package_list(found), at)
    archive.tree(HOME, home)
    archive.sums(SUMS, at)
    archive.text(MANIFEST, account.text(asked["folder"]), at)
    sink.finish()


if __name__ == "__main__":
    sys.exit(main())
