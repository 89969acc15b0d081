"""Settings of the Jupyter server in a sandbox; loaded last, so that a file in home cannot undo them.

The token comes from the session file: it must never stand in an argument or in the environment.
"""

import os
import selectors
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from intermezzo.guest import server_rename
from intermezzo.guest.kernel_states import WatchfulKernelManager
from intermezzo.guest.session import load

# A listener that waited in epoll before a save can stay unreported after the restore on some engine versions;
# poll asks afresh each time.
selectors.DefaultSelector = selectors.PollSelector  # type: ignore[misc,assignment]

c: Any = get_config()  # type: ignore[name-defined]  # noqa: F821
server_rename.started_for["session"] = os.environ.pop("INTERMEZZO_SESSION")
session = load(server_rename.started_for["session"])

c.IdentityProvider.token = session.access_token
c.ServerApp.base_url = session.base_path
c.ServerApp.ip = session.host
c.ServerApp.port = session.port
c.ServerApp.port_retries = 0
c.ServerApp.root_dir = session.home
c.ServerApp.open_browser = False
c.ServerApp.jpserver_extensions = {server_rename.__name__: True}
c.ServerApp.quit_button = False
c.ServerApp.allow_remote_access = True
c.ServerApp.terminals_enabled = True
# In a sandbox nobody is root; without one it is the administrator who chose the user.
c.ServerApp.allow_root = True
c.ServerApp.answer_yes = True
# Where language servers that are written for Node are looked for. Left to itself, it would ask npm at every start, and
# that leaves a log in home, sometimes as late as after a resume.
c.LanguageServerManager.node_roots = [session.home, str(Path(sys.prefix) / "lib"), sys.prefix]
c.LabApp.extra_labextensions_path = [str(Path(__file__).resolve().parent / "labextensions")]
c.LabApp.news_url = None
c.LabApp.check_for_updates_class = "jupyterlab.NeverCheckForUpdate"

# Loopback connections of the older kind die in a restore and the kernel with them; unix sockets live on.
c.KernelManager.transport = session.transport
c.ServerApp.kernel_manager_class = WatchfulKernelManager
c.MappingKernelManager.default_kernel_name = "python3"
# How large a message may be is said at the gateway; the server's own default of 10 MiB would cut in before it.
c.ServerApp.tornado_settings = {"websocket_max_message_size": 2**30}
c.ZMQChannelsWebsocketConnection.iopub_data_rate_limit = 10_000_000
