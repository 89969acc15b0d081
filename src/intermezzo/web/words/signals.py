"""The signals of activity in words: what each is called and what it says. Pure.

Where a signal was read and when stands beside it; nothing is concluded here, and what is unknown is said to be so.
"""

from collections.abc import Iterator
from typing import Any

from intermezzo.domain.activity import Source
from intermezzo.domain.readings import (
    AcceleratorUse,
    KeepAwake,
    KernelReading,
    KernelState,
    Known,
    ProcessorUse,
    Reading,
    TerminalReading,
)
from intermezzo.web.words.catalog import marked
from intermezzo.web.words.figures import duration, moment, number, size
from intermezzo.web.words.locale import Locale

CPU_MILLIS = 1000

NAMES = {
    "kernels": marked("Kernels"),
    "terminals": marked("Terminals"),
    "processor": marked("CPU time"),
    "memory": marked("Memory in use"),
    "accelerators": marked("Accelerators"),
    "server": marked("What its Jupyter server last did"),
    "editor": marked("Last sign of a tab with VS Code"),
    "keep_awake": marked("Asked from inside to stay awake"),
}
ACTIVITIES = {
    Source.CHANNEL: marked("Last input to a kernel:"),
    Source.TERMINAL: marked("Last input to a terminal:"),
    Source.EDITOR: marked("Last input to VS Code:"),
    Source.REQUEST: marked("Last request that a person caused:"),
    Source.RUN: marked("Last run that was asked for:"),
    Source.PROBE: marked("Last activity that its probe saw:"),
    Source.WORK: marked("Work began:"),
    Source.REST: marked("Work ended:"),
}
KERNELS = {
    KernelState.BUSY: marked("busy since {at}"),
    KernelState.IDLE: marked("idle since {at}"),
    KernelState.STARTING: marked("starting since {at}"),
    KernelState.DEAD: marked("dead since {at}"),
    KernelState.OTHER: marked("in another state since {at}"),
}


def name(locale: Locale, signal: str) -> str:
    """What a field of `domain.readings.Readings` is called."""
    return locale.gettext(NAMES[signal]) if signal in NAMES else signal


def says(locale: Locale, signal: str, reading: Reading[Any]) -> list[str]:
    """What it says, a line each; why not, where it is not known or there is no such thing."""
    if not isinstance(reading, Known):
        why = locale.sentence(reading.why)
        return [locale.gettext("not known: {why}", why=why) if reading.kind == "unknown" else why]
    return list(_lines(locale, signal, reading.says))


def activity(locale: Locale, source: Source) -> str:
    """What was seen when something was last done."""
    return locale.gettext(ACTIVITIES[source])


def _lines(locale: Locale, signal: str, said: Any) -> Iterator[str]:
    _ = locale.gettext
    match said:
        case () | None:
            yield _("nothing asked for") if signal == "keep_awake" else _("none")
        case tuple():
            for each in said:
                yield from _lines(locale, signal, each)
        case KernelReading():
            yield _(KERNELS[said.state], at=moment(locale, said.since))
        case TerminalReading(job="", since=_since):
            yield _("waits for input")
        case TerminalReading():
            yield _("{program} runs since {at}", program=said.job, at=moment(locale, said.since))
        case ProcessorUse():
            cpus = number(locale, said.millis / CPU_MILLIS)
            yield _("{cpus} CPU on average over {duration}", cpus=cpus, duration=duration(locale, said.over_ms))
        case AcceleratorUse():
            percent, memory = number(locale, said.busy_percent), size(locale, said.memory_bytes)
            yield _("{model}: {percent}% busy, {memory} held", model=said.model, percent=percent, memory=memory)
        case KeepAwake():
            yield _("until {at}, by {name}", at=moment(locale, said.until), name=said.by)
        case int() if signal == "memory":
            yield size(locale, said)
        case int():
            yield moment(locale, said)
