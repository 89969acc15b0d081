"""Which CPU features a new sandbox may see, so that its saved session fits more nodes than the one it began on. Pure.

A program asks the CPU once what it can do, and goes on by that: a session that saw a feature can only come back where
that is. In a pool of unlike machines every new session is therefore shown what all of them have, where the engine can
do that. It costs the features that some lack; where all nodes are alike it costs nothing and nothing is done.
"""

from collections.abc import Sequence

from intermezzo.domain.resources import EngineInfo, Node

LEVELLING = "cpu-levelling"
"""What an engine that can hide CPU features from a sandbox names among its own features."""


def level(node: str, nodes: Sequence[Node]) -> tuple[str, ...]:
    """The features that a sandbox which begins on that node may see; empty for all that the node has."""
    here = next((each for each in nodes if each.name == node), None)
    if here is None or LEVELLING not in here.engine.features:
        return ()
    peers = [each for each in nodes if _restores_what(each, here)]
    common = set(here.cpu_features).intersection(*(each.cpu_features for each in peers))
    return tuple(sorted(common)) if common < set(here.cpu_features) else ()


def seen(engine: EngineInfo, cpu_features: Sequence[str], shown: Sequence[str]) -> tuple[str, ...]:
    """Those of a node's CPU features that a sandbox's programs have seen, of which it was to be shown these (empty for
    all): they are what its saved session needs."""
    levelled = shown and LEVELLING in engine.features
    return tuple(name for name in cpu_features if name in shown or not levelled)


def _restores_what(other: Node, here: Node) -> bool:
    """Whether the one could bring back what the other saves, were their CPUs alike."""
    ours, theirs = here.engine, other.engine
    alike = (ours.name, ours.version) == (theirs.name, theirs.version)
    return alike and theirs.keeps_process and LEVELLING in theirs.features
