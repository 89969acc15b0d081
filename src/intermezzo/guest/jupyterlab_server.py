"""Starts JupyterLab, in a second less than `python -m jupyterlab` takes where Node is installed.

On import it has Node, if it finds any, tell the settings of Yarn, which only somebody needs who builds JupyterLab
anew. So for that long no program is to be found but the environment's own; whatever is configured or started later
finds all of them.
"""

import os
import sys


def main() -> None:
    """The server, until it ends."""
    path = os.environ.get("PATH", os.defpath)
    os.environ["PATH"] = os.path.join(sys.prefix, "bin")  # noqa: PTH118 before anything is imported
    from jupyterlab import labapp

    os.environ["PATH"] = path
    labapp.main()


if __name__ == "__main__":
    main()
