"""What Envoy is started with: the public port and the filters before every request. Pure.

Two chains serve the port, chosen by who connects: from a trusted proxy the forwarding headers are believed, from
anybody else they are removed before anything looks at them.
"""

import json
from enum import StrEnum
from pathlib import Path
from typing import Any

from intermezzo.client.gateway import CONNECT_PREFIX, GRANT_COOKIE, GRANT_ISSUER
from intermezzo.config.sections import Listen
from intermezzo.gateway.routes import GRANT_FILTER, GRANT_METADATA, LUA_FILTER, TYPE, WORKSPACE_SCRIPT

JSON = dict[str, Any]

HEADERS_KIB = 64
CONNECTIONS = 50_000
SCRIPT = Path(__file__).with_name("workspace.lua")
FORWARDING = ("x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "forwarded", "x-real-ip")
LONG_PATTERNS = {f"re2.max_program_size.{level}_level": 20_000 for level in ("error", "warn")}
ASKED_BY_A_PERSON = ("POST", "PUT", "PATCH", "DELETE")


class Peer(StrEnum):
    """Who connects to the port."""

    PROXY = "proxy"
    ANYBODY = "anybody"


def bootstrap(listen: Listen, folder: Path, grant_key: str) -> JSON:
    """Envoy's configuration; `folder` holds the files that it watches, `grant_key` is base64url."""
    return {
        "node": {"id": "gateway", "cluster": "intermezzo"},
        "admin": {"address": {"pipe": {"path": str(folder / "admin.sock"), "mode": 0o600}}},
        "dynamic_resources": {"cds_config": watched(folder / "clusters.json")},
        "static_resources": {"listeners": [_listener(listen, folder, grant_key)]},
        # Without this Envoy refuses the pattern of a long name in other letters than ASCII, and with it every route.
        "layered_runtime": {"layers": [{"name": "ours", "static_layer": LONG_PATTERNS}]},
        "overload_manager": {
            "refresh_interval": "0.25s",
            "resource_monitors": [
                {
                    "name": "envoy.resource_monitors.global_downstream_max_connections",
                    "typed_config": {
                        "@type": f"{TYPE}envoy.extensions.resource_monitors.downstream_connections.v3"
                        ".DownstreamConnectionsConfig",
                        "max_active_downstream_connections": CONNECTIONS,
                    },
                }
            ],
        },
    }


def watched(file: Path) -> JSON:
    """A source of configuration: one file, taken up again whenever another is renamed into its place."""
    return {
        "resource_api_version": "V3",
        "path_config_source": {"path": str(file), "watched_directory": {"path": str(file.parent)}},
    }


def certificate(listen: Listen) -> JSON:
    """The secret that the port's TLS uses; its files are read again when their folder changes."""
    assert listen.certificate is not None and listen.private_key is not None
    return {
        "@type": f"{TYPE}envoy.extensions.transport_sockets.tls.v3.Secret",
        "name": "certificate",
        "tls_certificate": {
            "certificate_chain": {"filename": str(listen.certificate)},
            "private_key": {"filename": str(listen.private_key)},
            "watched_directory": {"path": str(listen.certificate.parent)},
        },
    }


def _listener(listen: Listen, folder: Path, grant_key: str) -> JSON:
    chains = [
        {
            "name": Peer.PROXY,
            "filter_chain_match": {
                "direct_source_prefix_ranges": [
                    {"address_prefix": str(network.network_address), "prefix_len": network.prefixlen}
                    for network in listen.trusted_proxies
                ]
            },
            **_chain(listen, Peer.PROXY, folder, grant_key),
        }
    ]
    return {
        "name": "public",
        "address": {"socket_address": {"address": listen.host, "port_value": listen.port}},
        "per_connection_buffer_limit_bytes": 1024 * 1024,
        # A second gateway must fail to start, not share the port.
        "enable_reuse_port": False,
        "filter_chains": chains if listen.trusted_proxies else [],
        "default_filter_chain": {"name": Peer.ANYBODY, **_chain(listen, Peer.ANYBODY, folder, grant_key)},
    }


def _chain(listen: Listen, peer: Peer, folder: Path, grant_key: str) -> JSON:
    chain: JSON = {
        "filters": [
            {
                "name": "envoy.filters.network.http_connection_manager",
                "typed_config": _connection_manager(listen, peer, folder, grant_key),
            }
        ]
    }
    if listen.certificate is not None:
        secret = {"name": "certificate", "sds_config": watched(folder / "certificate.json")}
        chain["transport_socket"] = {
            "name": "envoy.transport_sockets.tls",
            "typed_config": {
                "@type": f"{TYPE}envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext",
                "common_tls_context": {
                    "alpn_protocols": ["h2", "http/1.1"],
                    "tls_params": {"tls_minimum_protocol_version": "TLSv1_2"},
                    "tls_certificate_sds_secret_configs": [secret],
                },
            },
        }
    return chain


def _connection_manager(listen: Listen, peer: Peer, folder: Path, grant_key: str) -> JSON:
    return {
        "@type": f"{TYPE}envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "public",
        "codec_type": "AUTO",
        "rds": {"route_config_name": "gateway", "config_source": watched(folder / "routes.json")},
        "use_remote_address": True,
        "xff_num_trusted_hops": 1 if peer is Peer.PROXY else 0,
        "early_header_mutation_extensions": [_believed(peer)],
        "server_header_transformation": "PASS_THROUGH",
        "generate_request_id": False,
        # What a workspace's server gets is what the browser sent: `%2F` in a file's name is not a slash.
        "normalize_path": False,
        "merge_slashes": False,
        "path_with_escaped_slashes_action": "KEEP_UNCHANGED",
        "max_request_headers_kb": HEADERS_KIB,
        "common_http_protocol_options": {"idle_timeout": "3600s", "headers_with_underscores_action": "ALLOW"},
        "http2_protocol_options": {"max_concurrent_streams": 256},
        "request_headers_timeout": "15s",
        "stream_idle_timeout": "3600s",
        "upgrade_configs": [],
        "access_log": [_access_log()],
        "local_reply_config": _unanswered(),
        "http_filters": [_grants(grant_key), _script(listen), _router()],
    }


def _believed(peer: Peer) -> JSON:
    removed = FORWARDING if peer is Peer.ANYBODY else ("forwarded", "x-real-ip")
    direct = {"key": "x-intermezzo-peer", "value": "%DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT%"}
    return {
        "name": "envoy.http.early_header_mutation.header_mutation",
        "typed_config": {
            "@type": f"{TYPE}envoy.extensions.http.early_header_mutation.header_mutation.v3.HeaderMutation",
            "mutations": [
                *({"remove": name} for name in removed),
                {"append": {"header": direct, "append_action": "OVERWRITE_IF_EXISTS_OR_ADD"}},
            ],
        },
    }


def _grants(grant_key: str) -> JSON:
    keys = json.dumps({"keys": [{"kty": "oct", "alg": "HS256", "k": grant_key}]})
    return {
        "name": GRANT_FILTER,
        "typed_config": {
            "@type": f"{TYPE}envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication",
            "providers": {
                "grant": {
                    "issuer": GRANT_ISSUER,
                    "local_jwks": {"inline_string": keys},
                    "from_cookies": [GRANT_COOKIE],
                    "from_headers": [
                        {"name": "authorization", "value_prefix": "Bearer "},
                        {"name": "authorization", "value_prefix": "token "},
                    ],
                    "from_params": ["token"],
                    "forward": True,
                    "payload_in_metadata": GRANT_METADATA,
                    "clear_route_cache": True,
                }
            },
            "rules": [
                {
                    "match": {"prefix": CONNECT_PREFIX},
                    "requires": {
                        "requires_any": {"requirements": [{"provider_name": "grant"}, {"allow_missing_or_failed": {}}]}
                    },
                }
            ],
        },
    }


def _script(listen: Listen) -> JSON:
    # A JSON string of an address is a string of Lua too.
    source = f'local PUBLIC_ORIGIN = "{listen.public_url}"\n{SCRIPT.read_text()}'
    return {
        "name": LUA_FILTER,
        "typed_config": {
            "@type": f"{TYPE}envoy.extensions.filters.http.lua.v3.Lua",
            "source_codes": {WORKSPACE_SCRIPT: {"inline_string": source}},
        },
    }


def _router() -> JSON:
    return {
        "name": "envoy.filters.http.router",
        "typed_config": {
            "@type": f"{TYPE}envoy.extensions.filters.http.router.v3.Router",
            "suppress_envoy_headers": True,
        },
    }


def _access_log() -> JSON:
    """Only what a person asked for, and what failed: an open page's polls would drown both."""
    chosen = [
        *({"header_filter": {"header": _exactly(":method", method)}} for method in ASKED_BY_A_PERSON),
        {"header_filter": {"header": _exactly("sec-fetch-user", "?1")}},
        {
            "status_code_filter": {
                "comparison": {"op": "GE", "value": {"default_value": 500, "runtime_key": "access_log.from_status"}}
            }
        },
    ]
    return {
        "name": "envoy.access_loggers.stdout",
        "filter": {"or_filter": {"filters": chosen}},
        "typed_config": {
            "@type": f"{TYPE}envoy.extensions.access_loggers.stream.v3.StdoutAccessLog",
            "log_format": {
                "json_format": {
                    "at": "%START_TIME(%s%3f)%",
                    "method": "%REQ(:METHOD)%",
                    "path": "%PATH(NQ:ORIG_OR_PATH)%",
                    "status": "%RESPONSE_CODE%",
                    "bytes": "%BYTES_SENT%",
                    "duration_ms": "%DURATION%",
                    "peer": "%DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT%",
                    "route": "%ROUTE_NAME%",
                    "user": "%REQ(SEC-FETCH-USER)%",
                }
            },
        },
    }


def _exactly(name: str, value: str) -> JSON:
    return {"name": name, "string_match": {"exact": value}}


def _unanswered() -> JSON:
    return {
        "body_format": {
            "content_type": "application/problem+json",
            "json_format": {
                "title": "No answer",
                "status": "%RESPONSE_CODE%",
                "detail": "what should answer this does not answer now",
                "code": "unreachable",
                "hint": "try again in a few seconds; if it stays so, `intermezzo doctor` looks for the reason",
            },
        }
    }
