"""Application checkpoints of one workspace: having them saved now.

What is there is a part of the workspace itself (`recorded`); every route asks the control plane and shapes its answer.
"""

from fastapi import APIRouter

from intermezzo.client.checkpoint_models import SaveAnswerShape
from intermezzo.web.api.common import Control
from intermezzo.web.auth.permission import ChangedKey
from intermezzo.web.problems import responses

router = APIRouter(
    prefix="/workspaces/{namespace}/{name}", tags=["recovery"], responses=responses(401, 403, 404, 422, 503)
)


@router.post("/checkpoints", responses=responses(409))
async def save_checkpoints(key: ChangedKey, control: Control) -> list[SaveAnswerShape]:
    """Have every program of the session that keeps checkpoints (`intermezzo.checkpoint.Keeper`) save one now, within
    half a minute: what came of each, none where no program does. Pauses and changes nothing else."""
    return [SaveAnswerShape.model_validate(answer) for answer in await control.checkpoints.save(key)]
