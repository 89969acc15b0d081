"""The one public port: Envoy in front of everything, configured from what the control plane says, and a relay for
websockets.

It decides nothing about anybody: grants are checked by Envoy, everything else is asked of the control plane over a
private socket. It must never log a query string, a cookie or a token.
"""
