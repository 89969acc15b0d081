"""Labels of namespaces, which rules of kinds look at: what administrators gave them."""

from http import HTTPStatus

from fastapi import APIRouter
from pydantic import Field

from intermezzo.client.namespace_models import NamespaceShape
from intermezzo.web.api.common import Body, Control
from intermezzo.web.auth.permission import Administrator, Overseer
from intermezzo.web.problems import responses

router = APIRouter(prefix="/namespaces", tags=["namespaces"], responses=responses(401, 403, 422, 503))


class LabelsBody(Body):
    """All the labels that a namespace is to have; none takes them back."""

    labels: dict[str, str] = Field(default_factory=dict, max_length=50)


@router.get("")
async def list_namespaces(caller: Overseer, control: Control) -> list[NamespaceShape]:
    """The namespaces that an administrator gave labels."""
    given = await control.given_labels()
    return [NamespaceShape(namespace=namespace, labels=labels) for namespace, labels in sorted(given.items())]


@router.put("/{namespace}/labels", status_code=HTTPStatus.NO_CONTENT)
async def label_namespace(namespace: str, body: LabelsBody, caller: Administrator, control: Control) -> None:
    """Give a namespace exactly these labels. It need not have a workspace yet."""
    await control.label_namespace(namespace, body.labels)
