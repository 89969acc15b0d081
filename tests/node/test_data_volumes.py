"""Data volumes on the real engine: shared between sandboxes, read-only where so wanted, there again after a resume."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from intermezzo.domain.held import Acceptance
from intermezzo.domain.mounts import Mount
from intermezzo.domain.orders import OrderState, PauseOrder, RemoveOrder, ResumeOrder, SandboxSpec, StartOrder
from node.notebook import Notebook
from node.world import Node, specification

pytestmark = pytest.mark.engine


@pytest.fixture
def shared(node: Node, uid: str) -> Iterator[str]:
    """The id of a data volume; deleted when nothing has files on it any more."""
    volume_id = uid.replace("ws", "data")
    yield volume_id
    for name in (uid, f"{uid}-other"):
        node.carry_out(RemoveOrder(name, 10**8, "clean-up", name.replace("ws", "volume")))
    assert node.request("DELETE", f"/v1/volumes/{volume_id}").status_code == 204
    assert not (node.configuration.volumes_dir / volume_id).exists()


def with_data(uid: str, *mounts: Mount) -> SandboxSpec:
    return specification(uid.replace("ws", "volume"), mounts=mounts)


def started(node: Node, uid: str, *mounts: Mount) -> Notebook:
    """A running session with these data volumes."""
    return Notebook(node.carry_out(StartOrder(uid, 1, "start", with_data(uid, *mounts))))


def options(node: Node, uid: str, path: str) -> set[str]:
    """How the engine was told to mount something."""
    bundle = json.loads((node.configuration.workspace_dir(uid) / "bundle" / "config.json").read_text())
    return {option for mount in bundle["mounts"] if mount["destination"] == path for option in mount["options"]}


def test_two_sandboxes_share_a_data_volume_and_one_may_only_read(node: Node, uid: str, shared: str) -> None:
    writer = started(node, uid, Mount(shared, "/data/corpus"))
    reader = started(node, f"{uid}-other", Mount(shared, "/mnt/corpus", read_only=True))
    assert writer.run("print(open('/data/corpus/a.txt', 'w').write('from the writer'))") == "15"
    assert reader.run("print(open('/mnt/corpus/a.txt').read())") == "from the writer"
    assert reader.run("open('/mnt/corpus/b.txt', 'w')") == "OSError"
    assert reader.run("import os; os.remove('/mnt/corpus/a.txt')") == "OSError"
    assert writer.run("import os; print(os.listdir('/data/corpus'))") == "['a.txt']"
    assert writer.run("print(open('/data/corpus/a.txt', 'a').write(', again'))") == "7"
    assert reader.run("print(open('/mnt/corpus/a.txt').read())") == "from the writer, again"
    for name, path, access in ((uid, "/data/corpus", "rw"), (f"{uid}-other", "/mnt/corpus", "ro")):
        assert {"nosuid", "nodev", access} <= options(node, name, path)


def test_two_sandboxes_write_to_one_data_volume(node: Node, uid: str, shared: str) -> None:
    both = [started(node, name, Mount(shared, "/data/corpus")) for name in (uid, f"{uid}-other")]
    for number, notebook in enumerate(both):
        assert notebook.run(f"print(open('/data/corpus/{number}.txt', 'w').write('{number}'))") == "1"
    for notebook in both:
        assert notebook.run("import os; print(sorted(os.listdir('/data/corpus')))") == "['0.txt', '1.txt']"


def test_an_open_file_on_a_data_volume_goes_on_after_a_resume(node: Node, uid: str, shared: str) -> None:
    mount = Mount(shared, "/data/corpus")
    notebook = started(node, uid, mount)
    other = started(node, f"{uid}-other", mount)
    assert notebook.run("f = open('/data/corpus/log.txt', 'a+'); f.write('before '); f.flush(); print(f.tell())") == "7"
    node.carry_out(PauseOrder(uid, 2, "pause", "one"))
    assert other.run("print(open('/data/corpus/meanwhile.txt', 'w').write('new'))") == "3"
    node.carry_out(ResumeOrder(uid, 3, "resume", "one", with_data(uid, mount)))
    assert notebook.run("f.write('after'); f.flush(); f.seek(0); print(f.read())").endswith("before after")
    assert notebook.run("print(open('/data/corpus/meanwhile.txt').read())") == "new"
    assert other.run("print(open('/data/corpus/log.txt').read())") == "before after"


def test_an_open_file_that_others_changed_meanwhile_is_named_and_once_accepted_as_it_is_now(
    node: Node, uid: str, shared: str
) -> None:
    mount = Mount(shared, "/data/corpus")
    notebook = started(node, uid, mount)
    other = started(node, f"{uid}-other", mount)
    notebook.run("f = open('/data/corpus/log.txt', 'a+'); f.write('before '); f.flush()")
    node.carry_out(PauseOrder(uid, 2, "pause", "one"))
    assert other.run("print(open('/data/corpus/log.txt', 'a').write('meanwhile '))") == "10"
    order = ResumeOrder(uid, 3, "resume", "one", with_data(uid, mount))
    refused = node.carry_out(order, OrderState.FAILED)
    assert refused.report and refused.report.problem
    assert "/data/corpus/log.txt, which the session holds open, was written to" in refused.report.problem.message
    node.carry_out(replace(order, token=4, accepted=Acceptance.CHANGED_FILES))
    assert notebook.run("f.write('after'); f.flush(); f.seek(0); print(f.read())").endswith("before meanwhile after")


def test_an_open_file_that_others_deleted_meanwhile_stops_the_resume_until_it_is_back(
    node: Node, uid: str, shared: str
) -> None:
    mount = Mount(shared, "/data/corpus")
    notebook = started(node, uid, mount)
    other = started(node, f"{uid}-other", mount)
    notebook.run("f = open('/data/corpus/log.txt', 'a+'); f.write('before '); f.flush()")
    node.carry_out(PauseOrder(uid, 2, "pause", "one"))
    other.run("import os; os.rename('/data/corpus/log.txt', '/data/corpus/moved.txt')")
    failed = node.carry_out(ResumeOrder(uid, 3, "resume", "one", with_data(uid, mount)), OrderState.FAILED)
    assert failed.sandbox is None
    assert [snapshot.id for snapshot in failed.snapshots] == ["one"]
    assert failed.report and failed.report.problem
    assert "/data/corpus/log.txt, which the session holds open, is missing" in failed.report.problem.message
    assert "Put them back" in failed.report.problem.hint
    other.run("os.rename('/data/corpus/moved.txt', '/data/corpus/log.txt')")
    node.carry_out(ResumeOrder(uid, 4, "resume", "one", with_data(uid, mount)))
    assert notebook.run("f.write('after'); f.flush(); f.seek(0); print(f.read())").endswith("before after")


@pytest.mark.parametrize("change", ["elsewhere", "read only", "none"])
def test_a_session_comes_back_only_with_the_data_volumes_it_was_saved_with(
    node: Node, uid: str, shared: str, change: str
) -> None:
    saved = Mount(shared, "/data/corpus")
    others: dict[str, tuple[Mount, ...]] = {
        "elsewhere": (Mount(shared, "/data/elsewhere"),),
        "read only": (Mount(shared, "/data/corpus", read_only=True),),
        "none": (),
    }
    notebook = started(node, uid, saved)
    notebook.run("x = 1")
    node.carry_out(PauseOrder(uid, 2, "pause", "one"))
    refused = node.carry_out(ResumeOrder(uid, 3, "resume", "one", with_data(uid, *others[change])), OrderState.FAILED)
    assert refused.report and refused.report.problem
    assert refused.report.problem.code == "snapshot_incompatible"
    node.carry_out(ResumeOrder(uid, 4, "resume", "one", with_data(uid, saved)))
    assert notebook.run("print(x)") == "1"


def test_fr40_a_deleted_file_that_is_open_on_a_data_volume_is_named_and_nothing_is_stopped(
    node: Node, uid: str, shared: str
) -> None:
    notebook = started(node, uid, Mount(shared, "/data/corpus"))
    notebook.run("import os; f = open('/data/corpus/gone.txt', 'w'); os.remove('/data/corpus/gone.txt')")
    failed = node.carry_out(PauseOrder(uid, 2, "pause", "one"), OrderState.FAILED)
    assert failed.report and failed.report.problem
    assert failed.report.problem.code == "unsaveable"
    assert "/data/corpus/gone.txt" in failed.report.problem.message
    assert notebook.run("f.close(); print('here')") == "here"


def test_a_volume_that_a_session_has_files_on_is_not_deleted(node: Node, uid: str, shared: str) -> None:
    started(node, uid, Mount(shared, "/data/corpus")).run("open('/data/corpus/kept.txt', 'w').write('kept')")
    assert node.request("DELETE", f"/v1/volumes/{shared}").status_code == 409
    node.carry_out(PauseOrder(uid, 2, "pause", "one"))
    node.kill()
    node.start()
    assert node.request("DELETE", f"/v1/volumes/{shared}").status_code == 409
    assert (node.configuration.volumes_dir / shared / "kept.txt").read_text() == "kept"


def test_a_data_volume_does_not_hide_what_the_sandbox_runs_on(node: Node, uid: str, shared: str) -> None:
    environment = node.configuration.environments["jupyter"]
    for path in (environment, environment.parent, environment / "lib"):
        token = len(path.parts)
        order = StartOrder(uid, token, "start", with_data(uid, Mount(shared, str(path))))
        answer = node.send(order)
        assert answer.status_code == 422 or _refused(node, order)


def _refused(node: Node, order: StartOrder) -> bool:
    report = node.ended(order).report
    return report is not None and report.problem is not None and report.problem.code == "refused"
