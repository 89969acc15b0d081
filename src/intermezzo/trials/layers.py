"""The four layers of state with what the trial saw of each."""

from intermezzo.domain.continuity import Verdict
from intermezzo.domain.cycles import Cycle
from intermezzo.reports.figures import seconds, size
from intermezzo.reports.trial import StateLayer
from intermezzo.trials.checkpoints import checkpoints
from intermezzo.trials.findings import Findings


def layers(found: Findings, cycle: Cycle | None, files_equal: bool) -> tuple[StateLayer, ...]:
    """As the workspace stated them before the pause."""
    if found.before is None:
        return ()
    seen = (_files(found, files_equal), _checkpoint(found), _snapshot(found, cycle), _capacity(cycle))
    return tuple(
        StateLayer(
            name=layer.name,
            kept_by_pause=layer.kept_by_pause,
            statement=layer.statement,
            way_back=layer.way_back,
            seen=text,
        )
        for layer, text in zip(found.before.layers, seen, strict=True)
    )


def _files(found: Findings, files_equal: bool) -> str:
    if found.home_before is None or found.home_after is None:
        return ""
    same = "the same" if files_equal else "NOT the same"
    return f"{found.home_before.files} files, {size(found.home_before.bytes)}; {same} after the resume."


def _checkpoint(found: Findings) -> str:
    saved = checkpoints(found.before, found.files_before)
    if not saved:
        return "The notebook saved none that could be recognised by its name."
    return ", ".join(f"{each}, {size(each.bytes)}" for each in saved)


def _snapshot(found: Findings, cycle: Cycle | None) -> str:
    if cycle is None or not cycle.snapshot_bytes:
        return "No snapshot was made."
    verdict = found.continuity.verdict.value if found.continuity else Verdict.UNKNOWN.value
    return f"{size(cycle.snapshot_bytes)} on disk; verdict after the resume: {verdict}."


def _capacity(cycle: Cycle | None) -> str:
    if cycle is None or cycle.pause_to_free_ms is None:
        return "Nothing came free."
    return f"Free {seconds(cycle.pause_to_free_ms / 1000)} after the pause was asked for."
