"""The parts of the agent that read and decide, without an engine."""

import json
import os
import signal
import subprocess
from dataclasses import replace
from ipaddress import IPv4Network
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intermezzo.domain.errors import EngineFailure, InvalidInput, NotEnoughSpace, Refused, StaleOrder
from intermezzo.domain.orders import Endpoint, Order, OrderReport, OrderState, PauseOrder, StartOrder, StopOrder
from intermezzo.domain.resources import Resources
from intermezzo.node import bundle, cgroups, etc, features, files, firewall, identifiers, processes
from intermezzo.node.accelerators import Accelerators
from intermezzo.node.config import NodeConfig, VirtualAccelerator, load
from intermezzo.node.environments import Environment, Environments
from intermezzo.node.records import Records, SandboxRecord, WorkspaceRecord
from intermezzo.node.space import Space
from intermezzo.node.volumes import Volumes, VolumeUnavailable
from intermezzo.node.workspace import accepts
from node.management_library import StandIn
from node.world import TOKEN, specification


@pytest.mark.parametrize("wrong", ["", "..", "a/b", "A", "-a", "a" * 64, "a\n", "é", "a.b"])
def test_an_id_that_could_lead_elsewhere_is_refused(wrong: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        identifiers.identifier(wrong, "uid")
    assert refusal.value.fields.keys() == {"uid"}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("hostname", "a_b"),
        ("base_path", "/a/../../b"),
        ("base_path", "a/"),
        ("base_path", "/a b/"),
        ("home_mount", "/etc"),
        ("home_mount", "/home/../etc"),
        ("home_mount", "/home/.."),
        ("server", "sshd"),
        ("port", 80),
        ("env", {"A B": "1"}),
        ("access_token", "short"),
        ("volume_id", "../other"),
        ("environment", ""),
        ("environment", "a\0b"),
    ],
)
def test_a_sandbox_that_is_wrong_is_refused_with_the_field_named(field: str, value: Any) -> None:
    order = StartOrder(
        "ws",
        1,
        "start",
        specification(**{"volume": "v", field: value}) if field != "volume_id" else specification(value),
    )
    with pytest.raises(InvalidInput) as refusal:
        identifiers.order(order)
    assert refusal.value.fields.keys() == {f"sandbox.{field}"}
    assert TOKEN not in str(refusal.value)


def test_an_environment_that_no_node_has_is_asked_for_in_plain_words_and_is_no_wrong_specification() -> None:
    sandbox = replace(specification("v"), environment="registry.example/notebook:2")
    assert identifiers.sandbox(sandbox) == sandbox
    with pytest.raises(InvalidInput, match="there is no environment 'registry"):
        Environments({}).get(sandbox.environment)


@given(st.lists(st.tuples(st.integers(1, 5), st.sampled_from(["pause", "stop", "start"])), max_size=12))
def test_tokens_of_accepted_orders_never_fall(orders: list[tuple[int, str]]) -> None:
    record: WorkspaceRecord | None = None
    highest = 0
    for token, kind in orders:
        orders_by_kind: dict[str, Order] = {
            "pause": PauseOrder("ws", token, "operation", "snapshot"),
            "stop": StopOrder("ws", token, "operation"),
            "start": StartOrder("ws", token, "operation", specification()),
        }
        order = orders_by_kind[kind]
        try:
            new = accepts(record, order)
        except StaleOrder:
            assert token < highest or (token == highest and kind != "stop")
            continue
        assert token >= highest
        if new:
            record = WorkspaceRecord(order, OrderReport(kind, token, "operation", OrderState.WORKING))
            highest = token


def test_a_record_is_read_back_as_it_was_written_and_is_private(tmp_path: Path) -> None:
    spec = specification()
    order = StartOrder("ws", 3, "start", spec)
    report = OrderReport("start", 3, "start", OrderState.WORKING, times={"accepted": 5})
    config = NodeConfig(data_dir=tmp_path)
    sandbox = SandboxRecord(
        "ws-3", "ws", 3, spec, Endpoint("127.0.0.1", 8888, "/", 8889), True, process=processes.Identity(7, 8)
    )
    record = WorkspaceRecord(order, report, sandbox)
    records = Records(config.node_dir / "workspaces")
    records.save(record)
    assert list(records.load_all()) == [record]
    path = config.workspace_dir("ws") / "record.json"
    assert path.stat().st_mode & 0o077 == 0
    assert TOKEN not in repr(record)


def test_a_home_that_leads_out_of_the_data_directory_is_refused(tmp_path: Path) -> None:
    volumes = Volumes(tmp_path / "volumes", 1000, 1000)
    volumes.ensure("good")
    (tmp_path / "volumes" / "bad").symlink_to("/etc")
    with pytest.raises(Refused):
        volumes.ensure("bad")
    with pytest.raises(Refused):
        volumes.remove("bad")


def test_a_summary_tells_changed_contents_and_names(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one")
    (tmp_path / "link").symlink_to("/etc/passwd")
    before = files.summary(tmp_path)
    assert (before.files, before.bytes) == (2, 3)
    (tmp_path / "a").write_text("two")
    assert files.summary(tmp_path).digest != before.digest


def test_a_summary_counts_the_environment_record_and_takes_it_for_no_change(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one")
    (folder := tmp_path / ".intermezzo/record").mkdir(parents=True)
    before = files.summary(tmp_path)
    (folder / "record.json").write_text("{}")
    after = files.summary(tmp_path)
    assert (after.files, after.bytes, after.digest) == (2, 5, before.digest)
    (tmp_path / ".intermezzo/other").write_text("")
    assert files.summary(tmp_path).digest != before.digest


def test_a_log_is_cut_to_its_last_lines(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("".join(f"line {n}\n" for n in range(100_000)))
    files.cap(log, 1000)
    assert log.read_text().endswith("line 99999\n")
    assert log.stat().st_size < 20_000


def test_space_is_asked_for_before_anything_is_stopped(tmp_path: Path) -> None:
    space = Space(lambda: tmp_path)
    with pytest.raises(NotEnoughSpace) as refusal, space.promised("the snapshot", 1 << 60, tmp_path / "image"):
        raise AssertionError("it was promised")
    assert refusal.value.needed_bytes > 1 << 60 > refusal.value.free_bytes > 0
    with space.promised("the snapshot", 0, tmp_path / "image"):
        pass


def test_flags_are_read_from_the_help_text() -> None:
    text = "checkpoint [flags] <id>\n  -compression value\n    \tcompress\n  --direct\n    \tuse -O_DIRECT\n"
    assert features.flags(text) == {"compression", "direct"}


ENGINE = """#!/bin/sh
case "$*" in
  --version) echo "runsc version 2" ;;
  flags) echo "  -network value" ;;
  "help checkpoint") echo "  -leave-running" ;;
  "help restore") echo "  -image-path string" ;;
  help) printf "Subcommands:\\n\\tcheckpoint\\tsave\\n{help}" ;;
  cpu-features) echo "avx,avx2,sse" ;;
  *) exit 2 ;;
esac
"""


@pytest.mark.parametrize("offered", [True, False])
async def test_whether_the_engine_can_hide_cpu_features_is_asked_of_the_engine(tmp_path: Path, offered: bool) -> None:
    script = tmp_path / "runsc"
    script.write_text(ENGINE.format(help="\\tcpu-features\\tlist the features\\n" if offered else ""))
    script.chmod(0o755)
    found = await features.ask(script)
    assert found.cpu_features == ({"avx", "avx2", "sse"} if offered else frozenset())
    assert ("cpu-levelling" in found.names) is offered


def test_a_levelled_sandbox_is_shown_no_other_cpu_features_and_the_engine_compares_the_same(tmp_path: Path) -> None:
    place = bundle.Place(
        tmp_path,
        tmp_path / "etc",
        tmp_path / "home",
        {},
        Environment(tmp_path / "environment", tmp_path / "base"),
        1000,
        1000,
        "10.0.0.2",
        "/run/netns/x",
    )
    plain = bundle.build(place, specification())
    assert "annotations" not in json.loads((tmp_path / "config.json").read_text())
    levelled = bundle.build(replace(place, cpu_features=("avx", "sse")), specification())
    shown = json.loads((tmp_path / "config.json").read_text())["annotations"]
    assert shown == {"dev.gvisor.internal.cpufeatures": "avx,sse"}
    assert plain == levelled


async def test_a_binary_that_is_no_engine_is_refused(tmp_path: Path) -> None:
    script = tmp_path / "runsc"
    script.write_text("#!/bin/sh\necho nothing\n")
    script.chmod(0o755)
    with pytest.raises(EngineFailure):
        await features.ask(script)


def test_the_packet_rules_keep_sandboxes_from_each_other_and_the_host() -> None:
    text = firewall.rules("intermezzo_abc", "imzabc", IPv4Network("10.200.0.0/16"))
    assert 'iifname "imzabc*" oifname "imzabc*" drop' in text
    assert 'iifname "imzabc*" ip daddr 169.254.0.0/16 drop' in text
    assert 'ip saddr 10.200.0.0/16 oifname != "imzabc*" masquerade' in text


def test_name_servers_on_loopback_are_passed_over(tmp_path: Path) -> None:
    stub, upstream = tmp_path / "stub", tmp_path / "upstream"
    stub.write_text("nameserver 127.0.0.53\noptions edns0\n")
    upstream.write_text("# real\nnameserver 192.0.2.7\nnameserver ::1\n")
    assert etc.nameservers([stub, upstream]) == ["192.0.2.7"]
    assert etc.nameservers([stub]) == []


def test_the_sandboxes_etc_can_be_made_twice_and_holds_no_secret(tmp_path: Path) -> None:
    host = tmp_path / "host"
    (host / "ssl/certs").mkdir(parents=True)
    (host / "ssl/certs/secret").write_text("key")
    (host / "ssl/certs/secret").chmod(0o600)
    (host / "ssl/certs/public").write_text("certificate")
    (host / "ssl/certs/link").symlink_to("public")
    guest = Path(etc.__file__).parent.parent / "guest"
    for _ in range(2):
        etc.build(tmp_path / "etc", guest, 1000, 1000, host)
    made = tmp_path / "etc"
    assert sorted(p.name for p in (made / "ssl/certs").iterdir()) == ["link", "public"]
    assert "jovyan:x:1000:1000" in (made / "passwd").read_text()
    assert (made / etc.KERNEL_CONFIGURATION).exists()


async def test_groups_of_version_2_hold_cpu_and_memory(tmp_path: Path) -> None:
    groups = cgroups.ControlGroups(cgroups.Hierarchy(tmp_path, tmp_path, 2), "abc")
    limits = Resources(1500, 1 << 30)
    assert groups.create("ws", limits) == (tmp_path / "intermezzo-abc/ws/cgroup.procs",)
    groups.limit_cpu("ws", limits)
    folder = tmp_path / "intermezzo-abc" / "ws"
    assert (folder / "cpu.max").read_text() == "150000 100000"
    assert int((folder / "memory.max").read_text()) == (1 << 30) + cgroups.ENGINE_MEMORY
    groups.lift_cpu_limit("ws")
    assert (folder / "cpu.max").read_text() == "max 100000"
    (folder / "memory.stat").write_text("anon 10\nfile 7\nshmem 5\n")
    assert (groups.memory_bytes("ws"), groups.shared_bytes("ws")) == (15, 5)
    assert groups.processor_us("ws") is None
    (folder / "cpu.stat").write_text("usage_usec 2500\nuser_usec 2000\n")
    assert groups.processor_us("ws") == 2500


def test_the_older_groups_count_cpu_time_in_a_hierarchy_of_their_own(tmp_path: Path) -> None:
    cpu, memory, accounting = tmp_path / "cpu", tmp_path / "memory", tmp_path / "cpuacct"
    groups = cgroups.ControlGroups(cgroups.Hierarchy(cpu, memory, 1, accounting), "abc")
    joined = groups.create("ws", Resources(1500, 1 << 30))
    assert [path.parent.parent.parent.name for path in joined] == ["cpu", "cpuacct", "memory"]
    (accounting / "intermezzo-abc" / "ws" / "cpuacct.usage").write_text("2500000")
    assert groups.processor_us("ws") == 2500


def test_accelerators_real_and_virtual_are_told_apart() -> None:
    library = StandIn()
    found = Accelerators(library, [VirtualAccelerator(resource="example.com/npu", model="N1", count=3)])
    assert found.counts() == {"nvidia.com/gpu": 2, "example.com/npu": 3}
    assert [a.virtual for a in found.all()] == [False, False, True, True, True]
    assert found.identity(1) == "NVIDIA L4 570.1"
    assert found.identity(0) == ""
    assert found.device_paths(found.all()[1:2])[-1] == "/dev/nvidia1"
    library.users = [SimpleNamespace(pid=7, usedGpuMemory=4096), SimpleNamespace(pid=8, usedGpuMemory=1)]
    assert found.memory_held([7]) == 4096
    assert found.memory_held([9]) == 0
    assert Accelerators(None).all() == ()


def test_the_configuration_names_what_is_wrong(tmp_path: Path) -> None:
    file = tmp_path / "node.json"
    file.write_text(json.dumps({"data_dir": str(tmp_path), "engin": "runsc"}))
    with pytest.raises(ValueError, match="engin"):
        load(file)
    file = tmp_path / "node.toml"
    file.write_text(f'data_dir = "{tmp_path}"\nsubnet = "10.9.0.0/16"\n')
    assert load(file).socket == tmp_path / "run" / "node.sock"


def test_fr47_a_volume_that_is_away_is_named_and_never_made_in_its_place(tmp_path: Path) -> None:
    volumes = Volumes(tmp_path / "volumes", os.getuid(), os.getgid())
    home = volumes.ensure("home")
    volumes.require(["home"])
    home.rename(tmp_path / "elsewhere")
    with pytest.raises(VolumeUnavailable, match="home is not there"):
        volumes.require(["home"])
    assert not home.exists()
    home.write_text("no directory")
    with pytest.raises(VolumeUnavailable):
        volumes.require(["home"])


def test_what_this_process_has_begun_is_told_from_what_an_earlier_one_left() -> None:
    """So that a command which somebody runs in a session is not ended as if it were left over."""
    with subprocess.Popen(["sh", "-c", "sleep 60 & echo $!; exec sleep 60"], stdout=subprocess.PIPE, text=True) as ours:
        assert ours.stdout is not None
        child = processes.identify(int(ours.stdout.readline()))
        assert child is not None
        assert {processes.identify(ours.pid), child} <= processes.begun_here()
        ours.kill()
        ours.wait()
        assert child.alive
        assert child not in processes.begun_here()
        child.send(signal.SIGKILL)
