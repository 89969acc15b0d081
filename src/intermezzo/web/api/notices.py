"""What people are told: their notices, those about a workspace, announcements, and how they are written to."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, Response
from pydantic import Field, field_validator

from intermezzo.client.notice_models import AnnouncementShape, ContactShape, NoticeShape
from intermezzo.domain.account import ADDRESS_LENGTH, Contact
from intermezzo.domain.notice import Notice
from intermezzo.web.api.accounts import AllPeople
from intermezzo.web.api.common import LATEST, PREFIX, Body, Control
from intermezzo.web.auth.guard import Caller
from intermezzo.web.auth.permission import Administrator, Overseer, Reader, SeenKey, Writer
from intermezzo.web.notice_board import NoticeBoard, board_of
from intermezzo.web.problems import responses
from intermezzo.web.words.catalog import LANGUAGES

router = APIRouter(tags=["notices"], responses=responses(401, 403, 422, 503))

LONGEST_TEXT = 10_000  # far beyond what is allowed, which is refused in words

Board = Annotated[NoticeBoard, Depends(board_of)]


class NewAnnouncement(Body):
    """An announcement to be: to the owners of workspaces of `kind`, or to everybody if it is empty; until `until`
    (epoch milliseconds), or for a week if that is 0."""

    text: str = Field(max_length=LONGEST_TEXT)
    kind: str = Field(default="", max_length=253)
    until: int = Field(default=0, ge=0, le=LATEST)


class ContactBody(Body):
    """Where and how somebody wants to be written to; empty takes it back."""

    address: str = Field(default="", max_length=ADDRESS_LENGTH)
    language: str = Field(default="", max_length=20)
    timezone: str = Field(default="", max_length=100)

    @field_validator("language")
    @classmethod
    def _is_spoken(cls, language: str) -> str:
        if language and language not in LANGUAGES:
            raise ValueError(f"must be one of {', '.join(LANGUAGES)}")
        return language


@router.get("/notices")
async def list_notices(caller: Reader, board: Board) -> list[NoticeShape]:
    """What the caller is told now, oldest first."""
    return [board.shape(posted) for posted in await board.of(caller)]


@router.get("/workspaces/{namespace}/{name}/notices", responses=responses(404))
async def list_workspace_notices(key: SeenKey, caller: Caller, control: Control, board: Board) -> list[NoticeShape]:
    """What its owner is told about it now, oldest first."""
    return [board.shape(posted) for posted in await board.about(await control.get(key), caller)]


@router.post("/notices/{notice_id}/dismiss", status_code=HTTPStatus.NO_CONTENT, responses=responses(404))
async def dismiss_notice(notice_id: str, caller: Writer, control: Control) -> None:
    """The caller has seen enough of a notice of theirs. It changes nothing about what it says."""
    await control.dismiss(notice_id, caller.subject)


@router.get("/announcements")
async def list_announcements(caller: Overseer, control: Control) -> list[AnnouncementShape]:
    """The announcements in force, oldest first."""
    return [announcement(each) for each in await control.announcements()]


@router.post("/announcements", status_code=HTTPStatus.CREATED)
async def announce(
    body: NewAnnouncement, caller: Administrator, control: Control, response: Response
) -> AnnouncementShape:
    """Tell everybody something, such as that an upgrade comes."""
    made = await control.announce(body.text, body.kind, body.until)
    response.headers["Location"] = f"{PREFIX}/announcements/{made.id}"
    return announcement(made)


@router.delete("/announcements/{announcement_id}", status_code=HTTPStatus.NO_CONTENT, responses=responses(404))
async def end_announcement(announcement_id: str, caller: Administrator, control: Control) -> None:
    """Take it back from everybody."""
    await control.end_announcement(announcement_id)


@router.get("/me/contact")
async def show_contact(caller: Reader, people: AllPeople) -> ContactShape:
    """How the caller is written to."""
    return ContactShape.model_validate((await people.account(caller.subject)).contact)


@router.put("/me/contact")
async def change_contact(body: ContactBody, caller: Writer, people: AllPeople) -> ContactShape:
    """Say where, and in which language and time zone, the caller is written to."""
    return ContactShape.model_validate(
        await people.change_contact(caller.subject, Contact(body.address, body.language, body.timezone))
    )


def announcement(original: Notice) -> AnnouncementShape:
    """An announcement as the API says it."""
    return AnnouncementShape(
        id=original.id,
        text=original.message,
        kind=original.kind,
        created_at=original.created_at,
        until=original.expires_at,
    )
