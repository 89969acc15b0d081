"""What the idle rule decided, in words: what comes of it, and why. Pure.

A decision is data; only when it is shown are its times written in its reader's language and time zone.
"""

from intermezzo.domain.idle import KEPT_AWAKE, WORK, Decision, Presence, Reason, Why
from intermezzo.web.words.catalog import marked
from intermezzo.web.words.figures import moment, number
from intermezzo.web.words.locale import Locale

HOLDS = WORK | KEPT_AWAKE | {Why.NOT_READ, Why.NOT_KNOWN, Why.PROBE_FAILED}
"""What keeps a workspace awake, as opposed to what was merely seen of it."""

REASONS: dict[Why, str] = {
    Why.KEPT_AWAKE: marked("Kept awake until {at} by {name}"),
    Why.KEPT_AWAKE_BY_NOTEBOOK: marked("Kept awake until {at}, asked for in a notebook"),
    Why.KERNEL_BUSY: marked("A kernel is busy since {at}"),
    Why.JOB: marked("{program} runs in a terminal since {at}"),
    Why.ACCELERATOR_BUSY: marked("GPU {percent}%"),
    Why.PROCESSOR_BUSY: marked("CPU {percent}%"),
    Why.NOT_READ: marked("Nothing is known of it: {why}"),
    Why.NOT_KNOWN: marked("Not known: {why}"),
    Why.PROBE_FAILED: marked("Its activity probe failed: {why}"),
    Why.NO_RULE: marked("No rule of its kind pauses it"),
    Why.EXEMPT: marked("A rule of its kind exempts it from pauses"),
    Why.SWITCHED_OFF: marked("No workspace is paused for being idle here"),
    Why.WARNED_FIRST: marked("Its owner is warned first"),
    Why.NOT_PAUSED: marked("The last pause failed: {why}; it is tried again after {at}"),
    Why.PROBED_FIRST: marked("Its activity probe is asked once more first"),
    Why.INPUT: marked("Last input {at}"),
    Why.RUN: marked("Last run {at}"),
    Why.PROBED: marked("Its activity probe saw activity {at}"),
    Why.WORKED: marked("Last at work {at}"),
    Why.UP_SINCE: marked("Up since {at}"),
    Why.KERNEL_IDLE: marked("Kernel idle"),
    Why.NO_JOB: marked("No job in a terminal"),
    Why.ACCELERATOR_IDLE: marked("GPU {percent}%, idle"),
}
"""A name of a program or a person stays as it is; a sentence in it (`{why}`) is translated."""


def outcome(locale: Locale, decision: Decision) -> str:
    """What will happen to the workspace if nobody does anything more, in one sentence."""
    _ = locale.gettext
    if decision.due or (decision.pauses_at is not None and decision.pauses_at <= decision.at):
        return _("Nobody has used it since {since}: it is about to be paused.", since=moment(locale, decision.since))
    if decision.pauses_at is not None:
        return _("It will be paused at {at} if nothing happens until then.", at=moment(locale, decision.pauses_at))
    if decision.presence is Presence.UNKNOWN:
        return _("Whether it is used is not known. What is not known never leads to a pause.")
    if decision.working:
        return _("It is at work, and is not paused while that lasts.")
    return _("It is not paused for being idle.")


def brief(locale: Locale, decision: Decision) -> str:
    """The same in a few words: what keeps it awake, else when it would be paused; empty where neither can be said."""
    holds = next((each for each in decision.reasons if each.why in HOLDS), None)
    if holds is not None:
        return reason(locale, holds)
    if decision.pauses_at is not None:
        return locale.gettext("pauses {at} if nothing happens", at=moment(locale, decision.pauses_at))
    return ""


def presence(locale: Locale, decision: Decision) -> str:
    """What all signals together say."""
    _ = locale.gettext
    match decision.presence:
        case Presence.ACTIVE:
            return _("active")
        case Presence.IDLE:
            return _("idle since {at}", at=moment(locale, decision.since))
        case Presence.UNKNOWN:
            return _("unknown")


def reason(locale: Locale, given: Reason) -> str:
    """One reason."""
    words = REASONS[given.why]
    why = locale.sentence(given.text) if "{why}" in words else ""
    return locale.gettext(
        words,
        at=moment(locale, given.at),
        percent=number(locale, given.percent),
        name=given.text,
        program=given.text,
        why=why,
    )
