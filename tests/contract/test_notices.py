"""What every store promises about notices and how far they have come."""

import asyncio
from dataclasses import replace

import pytest

from intermezzo.domain.notice import Delivery, Fate, Notice, Sort
from intermezzo.domain.workspace import WorkspaceKey
from intermezzo.ports.notices import Notices
from intermezzo.ports.store import Store


@pytest.fixture
def notices(store: Store) -> Notices:
    """What a store keeps about notices."""
    return store.notices


def warning(number: int = 1, **changes: object) -> Notice:
    """That a workspace will be paused."""
    made = Notice(
        id=f"n{number}",
        sort=Sort.IDLE_PAUSE,
        occasion="700",
        subject="ada",
        message="nobody has done anything in it",
        created_at=100 + number,
        workspace_uid="w1",
        key=WorkspaceKey("default", "exp"),
        moment=700,
        since=50,
        expires_at=1000,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


async def test_what_is_stored_comes_back_as_it_was(notices: Notices) -> None:
    first = warning()
    announced = warning(2, workspace_uid="", key=None, subject="", sort=Sort.ANNOUNCEMENT, kind="vscode", expires_at=0)
    assert await notices.add([first, announced], 100) == [first, announced]
    assert await notices.in_force(100) == [first, announced]
    assert await notices.in_force(100, Sort.ANNOUNCEMENT) == [announced]
    assert await notices.find("n1") == first
    assert await notices.find("n9") is None


async def test_the_same_occasion_is_one_notice_however_often_it_is_thought_of(notices: Notices) -> None:
    await notices.add([warning()], 100)
    assert await notices.add([warning(2, subject="ADA")], 100) == []
    for number, other in enumerate(
        (warning(3, occasion="800"), warning(4, subject="bob"), warning(5, workspace_uid="w2")), 3
    ):
        assert [notice.id for notice in await notices.add([other], 100)] == [f"n{number}"]


async def test_of_many_who_think_of_it_at_once_one_makes_it(notices: Notices) -> None:
    made = await asyncio.gather(*(notices.add([warning(number)], 100) for number in range(8)))
    assert sum(len(each) for each in made) == 1
    assert len(await notices.in_force(100)) == 1


async def test_one_that_ended_comes_back_under_its_id_and_is_brought_to_people_anew(notices: Notices) -> None:
    await notices.add([warning()], 100)
    await notices.note_delivery(Delivery("n1", "e-mail", Fate.DELIVERED, 1))
    await notices.dismiss(["n1"], 150)
    await notices.withdraw(["n1"], 200)
    assert await notices.in_force(200) == []
    again = warning(2, created_at=300, moment=900)
    assert await notices.add([again], 300) == [replace(again, id="n1")]
    assert await notices.of_subject("ada", 300) == [replace(again, id="n1")]
    assert await notices.undelivered("e-mail", 300, 10) == [(replace(again, id="n1"), 0)]


async def test_what_is_shown_has_not_ended_and_was_not_dismissed(notices: Notices) -> None:
    await notices.add([warning(), warning(2, occasion="2", expires_at=0), warning(3, subject="bob")], 100)
    assert [notice.id for notice in await notices.of_subject("Ada", 999)] == ["n1", "n2"]
    assert [notice.id for notice in await notices.of_subject("ada", 1000)] == ["n2"]
    await notices.dismiss(["n2"], 500)
    await notices.dismiss(["n2"], 600)
    kept = await notices.find("n2")
    assert kept is not None
    assert kept.dismissed_at == 500
    assert await notices.of_subject("ada", 1000) == []
    assert [notice.id for notice in await notices.in_force(1000)] == ["n2"]


async def test_a_workspaces_notices_are_found_by_it(notices: Notices) -> None:
    await notices.add([warning(), warning(2, workspace_uid="w2"), warning(3, workspace_uid="w3")], 100)
    assert [notice.id for notice in await notices.of_workspaces(["w1", "w3"], 100)] == ["n1", "n3"]
    assert await notices.of_workspaces([], 100) == []


async def test_a_withdrawal_ends_it_once(notices: Notices) -> None:
    await notices.add([warning()], 100)
    await notices.withdraw(["n1"], 400)
    await notices.withdraw(["n1"], 500)
    kept = await notices.find("n1")
    assert kept is not None
    assert kept.expires_at == 400
    await notices.withdraw([], 500)


async def test_what_did_not_arrive_is_tried_again_when_its_time_has_come(notices: Notices) -> None:
    await notices.add([warning(), warning(2, occasion="2")], 100)
    assert [(notice.id, tried) for notice, tried in await notices.undelivered("e-mail", 100, 10)] == [
        ("n1", 0),
        ("n2", 0),
    ]
    await notices.note_delivery(Delivery("n1", "e-mail", Fate.DELAYED, 1, 300, "the server does not answer"))
    await notices.note_delivery(Delivery("n2", "e-mail", Fate.UNDELIVERABLE, 1, 0, "no such mailbox"))
    assert await notices.undelivered("e-mail", 299, 10) == []
    assert [(notice.id, tried) for notice, tried in await notices.undelivered("e-mail", 300, 10)] == [("n1", 1)]
    assert [notice.id for notice, _ in await notices.undelivered("webhook", 100, 1)] == ["n1"]
    await notices.note_delivery(Delivery("n1", "e-mail", Fate.DELIVERED, 2))
    assert await notices.undelivered("e-mail", 300, 10) == []
    assert await notices.deliveries("n1") == [Delivery("n1", "e-mail", Fate.DELIVERED, 2)]


async def test_nobody_is_written_to_about_what_ended_was_dismissed_or_is_an_original(notices: Notices) -> None:
    ended, dismissed = warning(expires_at=150), warning(2, occasion="2", dismissed_at=120)
    original = warning(3, subject="", sort=Sort.ANNOUNCEMENT)
    await notices.add([ended, dismissed, original], 100)
    assert await notices.undelivered("e-mail", 150, 10) == []


async def test_what_ended_long_ago_is_forgotten_with_its_deliveries(notices: Notices) -> None:
    await notices.add([warning(), warning(2, occasion="2", expires_at=0)], 100)
    await notices.note_delivery(Delivery("n1", "e-mail", Fate.DELIVERED, 1))
    await notices.forget(1000)
    assert await notices.find("n1") is None
    assert await notices.deliveries("n1") == []
    assert [notice.id for notice in await notices.in_force(2000)] == ["n2"]
    await notices.note_delivery(Delivery("n1", "e-mail", Fate.DELIVERED, 1))
    assert await notices.deliveries("n1") == []
