"""Messages as VS Code's page sends them."""

from intermezzo.gateway.vscode_frames import HEADER, REGULAR


def of_the_extension_host(method: str, arguments: str) -> bytes:
    """A call of the extension host with its arguments in JSON."""
    name, content = method.encode(), arguments.encode()
    call = bytes([1, 0, 0, 0, 7, 98, len(name)]) + name + len(content).to_bytes(4, "big") + content
    return HEADER.pack(REGULAR, 1, 1, len(call)) + call
