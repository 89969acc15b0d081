"""Kinds and their options as people choose among them: what is offered, what should be exchanged, and why. Pure."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from intermezzo.domain.kind import ImageOption, Kind, Option, Options, PodOption

GENERIC_ICON = "/static/kinds/generic.svg"

Chosen = TypeVar("Chosen", bound=Option)


@dataclass(frozen=True, slots=True)
class Offer(Generic[Chosen]):
    """An option on the page. `instead` is what the administrator wants in its place, with a `level` and a `text`."""

    option: Chosen
    chosen: bool
    is_default: bool
    instead: Chosen | None = None
    level: str = ""
    text: str = ""


def icon_of(kind: Kind | None) -> str:
    """The kind's own picture where it lies on this site; nothing is ever loaded from elsewhere."""
    spawner = kind.document.get("spec", {}).get("spawner", {}) if kind else {}
    url = str((spawner.get("icon") or {}).get("url", ""))
    return url if url.startswith("/static/") else GENERIC_ICON


def offered_kinds(kinds: dict[str, Kind], chosen: str = "") -> list[Kind]:
    """The kinds that are offered; a hidden one only where it was asked for by its name."""
    found = [kind for kind in kinds.values() if not kind.hidden or kind.name == chosen]
    return sorted(found, key=lambda kind: (kind.deprecated, kind.display_name))


def image_offers(kind: Kind, chosen: str) -> list[Offer[ImageOption]]:
    """The images to choose from."""
    return _offers(kind.images, chosen)


def size_offers(kind: Kind, chosen: str) -> list[Offer[PodOption]]:
    """The sizes to choose from."""
    return _offers(kind.pods, chosen)


def chosen_in(options: Options[Chosen], wanted: str) -> str:
    """The id that is chosen: what was wanted if there is such an option, else the default."""
    return wanted if any(option.id == wanted for option in options.values) else options.default


def _offers(options: Options[Chosen], wanted: str) -> list[Offer[Chosen]]:
    chosen = chosen_in(options, wanted)
    return [_offer(options, option, chosen) for option in options.values if not option.hidden or option.id == chosen]


def _offer(options: Options[Chosen], option: Chosen, chosen: str) -> Offer[Chosen]:
    redirect = option.redirect
    return Offer(
        option,
        option.id == chosen,
        option.id == options.default,
        options.redirects(option.id)[-1] if redirect else None,
        redirect.level if redirect else "",
        redirect.text if redirect else "",
    )
