"""The texts that lie in an export. They are files, not words on a page: whoever reads them may never have seen one.

Pure. What they say of packages is exact; what was not read is not in them.
"""

import json
from collections.abc import Mapping

from intermezzo.domain.export import FORMAT, HOME_LAYER, PackageList, folded
from intermezzo.domain.workspace import WorkspaceKey


def requirements(found: PackageList) -> str:
    """A `requirements.txt` with exact versions. What no index has is a comment: it must be had from its origin."""
    lines = [f"# Python {found.python or '(version not known)'}", "# What a kernel of this workspace could import."]
    for package in found.effective:
        where = "  # installed in the home" if package.layer == HOME_LAYER else ""
        if not package.origin:
            lines.append(f"{package.name}=={package.version}{where}")
        elif package.origin.startswith("file:"):
            lines.append(f"# {package.name}=={package.version} was installed from a folder: {package.origin}")
        else:
            lines.append(f"{package.name} @ {package.origin}{where}")
    return "\n".join(lines) + "\n"


def package_list(found: PackageList) -> str:
    """The same for programs, with both layers."""
    packages = [
        {"name": each.name, "version": each.version, "layer": each.layer, "origin": each.origin}
        for each in sorted(found.packages, key=lambda each: (each.layer, folded(each.name)))
    ]
    return json.dumps({"python": found.python, "packages": packages}, indent=1) + "\n"


def readme(key: WorkspaceKey, exported: str, *warnings: str) -> str:
    """The text that stands first in the archive; `exported` is when, `warnings` what to know about this one."""
    told = "".join(f"\n**{warning}**\n" for warning in warnings)
    return _README.format(workspace=key, exported=exported, warnings=told)


def inventory(folder: str, counted: Mapping[str, int], lists: Mapping[str, object], sums_digest: str) -> str:
    """The manifest: what was counted, and what is to be known of single files."""
    content = {"format": FORMAT, "folder": folder, "sha256sums": sums_digest, **counted, **lists}
    return json.dumps(content, indent=1) + "\n"


_README = """\
# {workspace}

The files of an Intermezzo workspace, exported {exported}. Nothing here needs Intermezzo. There is no live session in
it: variables and models in memory stay in Intermezzo's snapshots.
{warnings}
- `home/`: everything in the home. Notebooks (`*.ipynb`) hold their saved outputs.
- `environment/requirements.txt`: the exact version of every Python package that a kernel could import, and the
  version of Python. `environment/packages.json` says which of them were installed in the home.
- `home/.intermezzo/record/`: the record that the last pause made: packages with their hashes, kernels, notebooks.
- `SHA256SUMS`: a checksum of every file. `manifest.json`: what was counted, and what was left out, with the reason.
  It is the last in the archive: if it is missing, the archive was cut off.

## Go on elsewhere

In the folder of this file:

```sh
sha256sum --check --quiet SHA256SUMS
python3 -m venv venv
venv/bin/pip install -r environment/requirements.txt
cd home && ../venv/bin/jupyter lab
```

Take the version of Python that `requirements.txt` names in its first line. `home/.venv` is the workspace's own layer
over its environment and leads to places of the old machine: the new `venv` takes its place.
Run a notebook from the top, or have it load its newest application checkpoint: with
`PYTHONPATH=$PWD/.intermezzo/library`, if that folder is there, it finds `intermezzo.checkpoint`.
"""
