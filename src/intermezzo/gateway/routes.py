"""Envoy's routes and clusters, made from the routing table. Pure: the same table gives the same configuration.

A request reaches a workspace only on the path of a running one and with a verified grant for that very workspace.
Everything else goes to the control plane. Websockets go to the relay, which asks for itself.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

from intermezzo.client.gateway import CONNECT_PREFIX, Holder, RoutingTable, Upstream
from intermezzo.gateway.spelling import is_plain, pattern

JSON = dict[str, Any]

CONTROL_CLUSTER, RELAY_CLUSTER = "control", "relay"
GRANT_FILTER = "envoy.filters.http.jwt_authn"
GRANT_METADATA = "grant"
LUA_FILTER = "envoy.filters.http.lua"
WORKSPACE_SCRIPT = "workspace"
IDLE = "3600s"
BUFFER_BYTES = 1024 * 1024
TYPE = "type.googleapis.com/"
UNHEARD = {
    "retry_on": "connect-failure",
    "num_retries": 4,
    "retry_back_off": {"base_interval": "0.2s", "max_interval": "2s"},
}
"""A server that is just being started, or too busy to accept a connection, has heard nothing of a request: it is asked
again. One lost answer of the many that open a notebook leaves its page half empty."""
STARTING_AGAIN = {
    **UNHEARD,
    "num_retries": 12,
    "retry_back_off": {"base_interval": "0.2s", "max_interval": "1s"},
}
"""A control plane that died is there again within seconds, for which whoever asks meanwhile waits."""
FOR_US_ONLY = ("x-intermezzo-peer", "authorization")


def routes(table: RoutingTable) -> JSON:
    """The route configuration."""
    return {
        "@type": f"{TYPE}envoy.config.route.v3.RouteConfiguration",
        "name": "gateway",
        "virtual_hosts": [
            {
                "name": "all",
                "domains": ["*"],
                "request_headers_to_add": [
                    _header("x-forwarded-for", "%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%"),
                ],
                "typed_per_filter_config": {LUA_FILTER: {"@type": _lua(), "disabled": True}},
                "routes": [
                    _websockets(),
                    *(_withdrawn(holder) for holder in table.withdrawn),
                    *(_workspace(upstream) for upstream in _ordered(table)),
                    _to_control_plane({"prefix": "/"}),
                ],
            }
        ],
    }


def clusters(table: RoutingTable, control_socket: str, relay_socket: str) -> list[JSON]:
    """The control plane, the relay, and one cluster for every port of every sandbox: a new sandbox is a new cluster, so
    that no connection to an old one is used again."""
    fixed = [_pipe(CONTROL_CLUSTER, control_socket), _pipe(RELAY_CLUSTER, relay_socket)]
    return fixed + [_cluster(upstream) for upstream in _ordered(table)]


def _ordered(table: RoutingTable) -> list[Upstream]:
    return sorted(table.upstreams, key=lambda upstream: upstream.prefix)


def _websockets() -> JSON:
    is_websocket = {"name": "upgrade", "string_match": {"exact": "websocket", "ignore_case": True}}
    return {
        "name": "websocket",
        "match": {"prefix": CONNECT_PREFIX, "headers": [is_websocket]},
        "route": {
            "cluster": RELAY_CLUSTER,
            "timeout": "0s",
            "idle_timeout": IDLE,
            "host_rewrite_header": "x-forwarded-host",
            "upgrade_configs": [{"upgrade_type": "websocket"}],
        },
    }


def _withdrawn(holder: Holder) -> JSON:
    claims = [_granted("sid", holder.credential), _granted("wid", holder.workspace)]
    return _to_control_plane({"prefix": CONNECT_PREFIX, "dynamic_metadata": claims})


def _to_control_plane(match: JSON) -> JSON:
    return {
        "name": "control",
        "match": match,
        "route": {
            "cluster": CONTROL_CLUSTER,
            "retry_policy": STARTING_AGAIN,
            "timeout": "0s",
            "idle_timeout": IDLE,
            "host_rewrite_header": "x-forwarded-host",
        },
    }


def _workspace(upstream: Upstream) -> JSON:
    prefix = upstream.prefix
    action: JSON = {
        "cluster": _cluster_name(upstream),
        "retry_policy": UNHEARD,
        "timeout": "0s",
        "idle_timeout": IDLE,
        "host_rewrite_header": "x-forwarded-host",
    }
    target = "/" if upstream.removes_prefix else prefix
    if is_plain(prefix):
        match: JSON = {"prefix": prefix}
        if upstream.removes_prefix:
            action["prefix_rewrite"] = target
    else:
        match = {"safe_regex": {"regex": f"{pattern(prefix)}.*"}}
        action["regex_rewrite"] = {"pattern": {"regex": f"^{pattern(prefix)}"}, "substitution": target}
    return {
        "name": f"workspace/{upstream.workspace}",
        "match": match | {"dynamic_metadata": [_granted("wid", upstream.workspace)]},
        "route": action,
        "request_headers_to_remove": list(FOR_US_ONLY),
        "request_headers_to_add": [_header(name, value) for name, value in _added(upstream).items()],
        "typed_per_filter_config": {LUA_FILTER: {"@type": _lua(), "name": WORKSPACE_SCRIPT}},
    }


def _added(upstream: Upstream) -> Mapping[str, str]:
    own = {"authorization": f"token {upstream.token}"} if upstream.token else {}
    return {**{name: value.replace("%", "%%") for name, value in upstream.set_headers.items()}, **own}


def _granted(claim: str, value: str) -> JSON:
    return {
        "filter": GRANT_FILTER,
        "path": [{"key": GRANT_METADATA}, {"key": claim}],
        "value": {"string_match": {"exact": value}},
    }


def _header(name: str, value: str) -> JSON:
    return {"header": {"key": name, "value": value}, "append_action": "OVERWRITE_IF_EXISTS_OR_ADD"}


def _cluster_name(upstream: Upstream) -> str:
    identity = f"{upstream.workspace}/{upstream.sandbox}/{upstream.host}/{upstream.port}"
    return f"workspace-{hashlib.sha256(identity.encode()).hexdigest()[:24]}"


def _cluster(upstream: Upstream) -> JSON:
    address = {"socket_address": {"address": upstream.host, "port_value": upstream.port}}
    return _static(_cluster_name(upstream), address) | {
        "connect_timeout": "5s",
        "per_connection_buffer_limit_bytes": BUFFER_BYTES,
        # A session that is frozen for a pause answers nothing; its waiting requests must not starve the others.
        "circuit_breakers": {"thresholds": [{"max_connections": 4096, "max_requests": 4096, "max_retries": 4096}]},
        "upstream_connection_options": {"tcp_keepalive": {}},
    }


def _pipe(name: str, socket: str) -> JSON:
    kinds = ("connections", "pending_requests", "requests", "retries")
    many = {f"max_{kind}": 65536 for kind in kinds}
    return _static(name, {"pipe": {"path": socket}}) | {
        "connect_timeout": "5s",
        "per_connection_buffer_limit_bytes": BUFFER_BYTES,
        "circuit_breakers": {"thresholds": [many]},
    }


def _static(name: str, address: JSON) -> JSON:
    return {
        "@type": f"{TYPE}envoy.config.cluster.v3.Cluster",
        "name": name,
        "type": "STATIC",
        "load_assignment": {
            "cluster_name": name,
            "endpoints": [{"lb_endpoints": [{"endpoint": {"address": address}}]}],
        },
    }


def _lua() -> str:
    return f"{TYPE}envoy.extensions.filters.http.lua.v3.LuaPerRoute"
