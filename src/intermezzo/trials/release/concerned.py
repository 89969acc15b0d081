"""Whose sessions the new conditions would make unusable in the installation that people use. It is only asked, never
changed, and only for what the caller may see."""

from intermezzo.client import Intermezzo
from intermezzo.client.document_models import UnusableShape
from intermezzo.client.node_models import EngineShape
from intermezzo.client.workspace_models import WorkspaceShape
from intermezzo.domain.compatibility import Site, mends, nowhere, obstacles
from intermezzo.domain.document import Sort
from intermezzo.domain.snapshot import Manifest
from intermezzo.reports.release import Losing
from intermezzo.trials.release.edition import Edition


def losing(client: Intermezzo, new: Edition, engine: EngineShape | None) -> list[Losing]:
    """Every session that could come back now and could not then, each once: because of a kind, or of `engine`, the one
    that the new conditions have. Raises the API's errors, `Forbidden` where the caller may not look."""
    workspaces = client.workspaces()
    found = [*_by_kinds(client, new, workspaces), *(_by_engine(client, engine, workspaces) if engine else ())]
    return list({(each.namespace, each.name, each.snapshot_id): each for each in reversed(found)}.values())[::-1]


def _by_kinds(client: Intermezzo, new: Edition, workspaces: list[WorkspaceShape]) -> list[Losing]:
    """As an edit of the kinds would say itself."""
    kinds = {(each.namespace, each.name): each.spec.kind for each in workspaces}
    text = new.text(Sort.KIND)
    reviews = client.documents.review(Sort.KIND, text) if text else []
    return [
        _losing(each.namespace, each.name, each.owner, kinds.get((each.namespace, each.name), review.name), lost)
        for review in reviews
        for each in review.losing
        for lost in each.unusable
    ]


def _losing(namespace: str, name: str, owner: str, kind: str, lost: UnusableShape) -> Losing:
    return Losing(
        namespace=namespace,
        name=name,
        owner=owner,
        kind=kind,
        snapshot_id=lost.snapshot_id,
        why=lost.why,
        mend=lost.mend,
    )


def _by_engine(client: Intermezzo, engine: EngineShape, workspaces: list[WorkspaceShape]) -> list[Losing]:
    """What is saved, or would be by a pause before the switch, wants the engine that saved it."""
    now = {node.name: node.engine for node in client.capacity()}
    found = []
    for workspace in workspaces:
        saved = client.snapshots(f"{workspace.namespace}/{workspace.name}")
        manifests = [
            Manifest(
                each.id,
                workspace.uid,
                "",
                each.created_at,
                each.bytes,
                engine=each.engine,
                engine_version=each.engine_version,
            )
            for each in saved
        ]
        here = now.get(workspace.node)
        if workspace.reservation is not None and here is not None and here.keeps_process:
            manifests.append(Manifest("", workspace.uid, "", 0, 0, engine=here.name, engine_version=here.version))
        found += [each for manifest in manifests if (each := _unusable(workspace, manifest, engine))]
    return found


def _unusable(workspace: WorkspaceShape, manifest: Manifest, engine: EngineShape) -> Losing | None:
    then = obstacles(manifest, Site("the machine", engine.name, engine.version))
    if not then:
        return None
    return Losing(
        namespace=workspace.namespace,
        name=workspace.name,
        owner=workspace.owner,
        kind=workspace.spec.kind,
        snapshot_id=manifest.id,
        why=nowhere([then]),
        mend=mends([then]),
    )
