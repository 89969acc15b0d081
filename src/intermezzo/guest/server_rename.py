"""Gives the running Jupyter server another identity, which a fork needs: its own access token, path and variables.

A Jupyter server takes its path into every route when it starts. Here the routes and settings are changed in place, so
that kernels, terminals and what extensions remember live on. Loaded by the server as an extension; does nothing until
the guest's init asks, and then reads who it is from the session file, never from the question.
"""

import concurrent.futures
import re
import secrets
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from intermezzo.guest import process_rename
from intermezzo.guest.identity import SERVER
from intermezzo.guest.listening import Listener
from intermezzo.guest.session import Session, changed_variables, load

WITHIN_S = 10.0
DEEPEST = 6
# Which session the server was started for, as its settings left it; extensions have no argument for it.
started_for: dict[str, str] = {}


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": __name__}]


def _load_jupyter_server_extension(server: Any) -> None:
    file = started_for["session"]
    renaming = Renaming(server, load(file), file)
    listener = Listener(load(file).witnesses, SERVER, renaming.asked)
    threading.Thread(target=listener.serve, name=SERVER, daemon=True).start()


class Renaming:
    """Who the server is, and how it becomes somebody else. Idempotent."""

    def __init__(self, server: Any, session: Session, file: str) -> None:
        self._server = server
        self._session = session
        self._file = file

    def asked(self, question: dict[str, Any]) -> dict[str, Any]:
        """Become what the session file says; answers with the path that the server then has. Raises OSError or
        ValueError where it cannot."""
        done: concurrent.futures.Future[dict[str, Any]] = concurrent.futures.Future()

        def become() -> None:
            try:
                done.set_result(self._become(load(self._file)))
            except Exception as error:  # noqa: BLE001 whatever it is, the one who asked is told
                done.set_exception(error)

        self._server.io_loop.add_callback(become)
        return done.result(WITHIN_S)

    def _become(self, session: Session) -> dict[str, Any]:
        before = self._session
        process_rename.become({"variables": changed_variables(before, session)})
        _move(self._server, before, session)
        self._server.identity_provider.token = session.access_token
        _new_cookies(self._server)
        self._session = session
        _tell_on_disk(self._server)
        return {"path": self._server.web_app.settings["base_url"]}


def _move(server: Any, before: Session, after: Session) -> None:
    """From one path and token to another, wherever the server has them. A page carries both to the browser."""
    old, new = before.base_path, after.base_path
    application = server.web_app

    def renamed(text: str) -> str:
        return after.access_token if text == before.access_token else _moved(text, old, new)

    for matcher in _matchers(application):
        matcher.regex = re.compile(_moved(matcher.regex.pattern, old, new))
        if path := getattr(matcher, "_path", None):
            matcher._path = _moved(path, old, new)
    extensions = list(_extensions(server))
    for container in (*_arguments(application), application.settings, *(each.settings for each in extensions)):
        _replace_in(container, renamed)
    for configured in (server, *extensions):
        _reconfigure(configured, renamed)


def _rules(router: Any) -> Iterator[Any]:
    for rule in getattr(router, "rules", ()):
        yield rule
        yield from _rules(rule.target)


def _matchers(application: Any) -> Iterator[Any]:
    for rule in (*_rules(application.default_router), *_rules(application.wildcard_router)):
        if hasattr(rule.matcher, "regex"):
            yield rule.matcher


def _arguments(application: Any) -> Iterator[dict[str, Any]]:
    """What handlers are made with, such as where a redirection leads."""
    for rule in (*_rules(application.default_router), *_rules(application.wildcard_router)):
        if isinstance(rule.target_kwargs, dict):
            yield rule.target_kwargs


def _extensions(server: Any) -> Iterator[Any]:
    for found in server.extension_manager.extension_apps.values():
        yield from found


def _reconfigure(configured: Any, renamed: Callable[[str], str]) -> None:
    """Those of its settings that were asked for before; what was not is worked out anew from what it depends on."""
    for name, value in list(configured._trait_values.items()):
        if isinstance(value, str) and (text := renamed(value)) != value:
            setattr(configured, name, text)


def _moved(text: str, old: str, new: str) -> str:
    """A text or a pattern that begins with the path; one that only begins alike is another workspace's."""
    for was, becomes in ((old, new), (re.escape(old), re.escape(new)), (old.rstrip("/"), new.rstrip("/"))):
        if text.startswith(was) and (was.endswith("/") or len(text) == len(was) or text[len(was)] in "/$?("):
            return becomes + text[len(was) :]
    return text


def _replace_in(container: Any, renamed: Callable[[str], str], depth: int = 0) -> None:
    """Every text in a tree of dictionaries and lists."""
    if depth > DEEPEST:
        return
    items = list(container.items()) if isinstance(container, dict) else list(enumerate(container))
    for key, value in items:
        if isinstance(value, str):
            if (text := renamed(value)) != value:
                container[key] = text
        elif isinstance(value, dict | list):
            _replace_in(value, renamed, depth + 1)


def _new_cookies(server: Any) -> None:
    """Whoever was let in by the original with a cookie is not let in by the fork."""
    server.cookie_secret = server.web_app.settings["cookie_secret"] = secrets.token_bytes(32)


def _tell_on_disk(server: Any) -> None:
    """The files that tell local tools of the server have its token and its address."""
    Path(server.info_file).unlink(missing_ok=True)
    server.write_server_info_file()
    for name in ("browser_open_file", "browser_open_file_to_run"):
        path = getattr(server, name, "")
        if path:
            Path(path).unlink(missing_ok=True)
