"""VS Code in a sandbox on the real engine: who gets in, and what a pause keeps of it."""

import sys
from collections.abc import Iterator

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from intermezzo.domain.continuity import Verdict, judge
from intermezzo.domain.orders import OrderReport, PauseOrder, RemoveOrder, ResumeOrder, StartOrder
from node.editor import HEADERS, PREFIX, Editor, editor_specification, tab
from node.notebook import Notebook
from node.world import TOKEN, Node, specification, until

pytestmark = pytest.mark.engine
ECHO = (
    "import http.server\n"
    "class Echo(http.server.BaseHTTPRequestHandler):\n"
    "    def do_GET(self):\n"
    "        self.send_response(200); self.end_headers(); self.wfile.write(str(self.headers).encode())\n"
    "http.server.HTTPServer(('127.0.0.1', 9000), Echo).serve_forever()\n"
)


@pytest.fixture
def neighbour(node: Node, uid: str, volume: str) -> Iterator[Notebook]:
    """Another person's session on the same machine."""
    yield Notebook(node.carry_out(StartOrder(f"{uid}-b", 1, "start", specification(f"{volume}b"))))
    node.carry_out(RemoveOrder(f"{uid}-b", 2, "remove", f"{volume}b"))


def took(report: OrderReport | None, first: str, last: str) -> str:
    assert report
    return f"{(report.times[last] - report.times[first]) / 1000:.2f} s"


@pytest.mark.parametrize("headers", [{}, {"Authorization": "token wrong"}, {"Authorization": f"Bearer {TOKEN}"}])
def test_nobody_gets_in_without_the_token_of_the_session(editor: Editor, headers: dict[str, str]) -> None:
    assert editor.get("/healthz", HEADERS).status_code == 200
    for path in ("/", "/healthz", "/proxy/9000/", "/absproxy/9000/", "/_static/src/browser/media/favicon.ico"):
        assert editor.get(path, headers).status_code == 401
    address = f"ws://{editor.endpoint.host}:{editor.endpoint.port}/?reconnectionToken=1&reconnection=false"
    with pytest.raises(InvalidStatus, match="401"), connect(address, additional_headers=headers, proxy=None):
        pass
    with connect(address, additional_headers=HEADERS, proxy=None) as socket:
        assert socket.response
        assert socket.response.status_code == 101


def test_fr25_a_program_on_a_forwarded_port_never_sees_the_token(node: Node, uid: str, editor: Editor) -> None:
    (editor.home / "echo.py").write_text(ECHO)
    node.execute(uid, "sh", "-c", "setsid python echo.py >/dev/null 2>&1 &")

    def echoed() -> str:
        answer = editor.get("/proxy/9000/", HEADERS)
        return answer.text.lower() if answer.is_success else ""

    seen = until(echoed, "the program answers", 0.1)
    assert "host:" in seen
    assert TOKEN not in seen
    assert "authorization" not in seen


def test_another_sandbox_cannot_reach_it(editor: Editor, neighbour: Notebook) -> None:
    target = (editor.endpoint.host, editor.endpoint.port)
    assert neighbour.run(f"import socket; socket.create_connection({target}, 3)") in ("TimeoutError", "OSError")


def test_the_token_stands_nowhere_in_the_sandbox_but_in_its_file(node: Node, uid: str, editor: Editor) -> None:
    search = (
        "import glob\nprint([p for p in glob.glob('/proc/[0-9]*/*') if p.endswith(('cmdline', 'environ'))"
        f" and {TOKEN[:12]!r} + {TOKEN[12:]!r} in open(p, errors='replace').read()])"
    )
    assert node.execute(uid, "python", "-c", search) == (0, "[]\n")
    assert TOKEN not in node.request("GET", f"/v1/workspaces/{uid}/logs", params={"tail": 10000}).text


def test_terminals_and_extension_hosts_live_through_pauses_with_the_tab_open(
    node: Node, uid: str, volume: str, editor: Editor
) -> None:
    with tab(editor) as open_tab:
        open_tab.open_terminal()
        open_tab.say(editor, "remembered=42; echo set", "set")
        open_tab.type_in("i=0; while :; do i=$((i+1)); echo $i > counter; sleep 0.2; done &")
        until(lambda: editor.reads("counter"), "the counter runs")
        before = editor.processes()
        assert {key.split()[1] for key in before} == {
            "entry",
            "--type=extensionHost",
            "--type=ptyHost",
            "shellIntegration",
        }
        planted = editor.plant("a nonce")
        assert [w.role for w in planted.witnesses] == ["init", "server", "server", "server"]
        assert all(w.nonce for w in planted.witnesses)

        for turn, (token, snapshot) in enumerate(((2, "one"), (4, "two"), (6, "three"))):
            paused = node.carry_out(PauseOrder(uid, token, "pause", snapshot))
            assert paused.sandbox is None
            assert [trace for trace in node.traces() if uid in trace] == []
            stood = int(editor.reads("counter"))
            resume = ResumeOrder(uid, token + 1, "resume", snapshot, editor_specification(volume))
            resumed = node.carry_out(resume)
            assert judge(planted, editor.witness()).verdict is Verdict.RESTORED
            assert before.items() <= editor.processes().items()
            until(lambda stood=stood: int(editor.reads("counter") or 0) > stood, "the counter goes on")  # type: ignore[misc]
            assert editor.get("/healthz", HEADERS).status_code == 200
            assert open_tab.say(editor, "echo answer $remembered", f"answer{turn}") == "answer 42"
            size = sum(manifest.bytes for manifest in paused.snapshots if manifest.id == snapshot)
            sys.stdout.write(
                f"pause {took(paused.report, 'accepted', 'sandbox_gone')}, {size / 1e6:.0f} MB, "
                f"resume {took(resumed.report, 'accepted', 'answering')}\n"
            )


def test_its_pages_know_the_path_they_are_under(editor: Editor) -> None:
    landing = editor.get("/", HEADERS)
    assert (landing.status_code, landing.headers["location"]) == (302, "./?folder=/home/jovyan")
    assert PREFIX not in editor.get("/?folder=/home/jovyan", HEADERS).text, "all its addresses are relative"
