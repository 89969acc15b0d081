"""What the public API says about a workspace."""

from pydantic import Field

from intermezzo.client.checkpoint_models import HomeRecordShape
from intermezzo.client.continuity_models import ContinuityShape
from intermezzo.client.idle_models import ActivityShape, DecisionShape
from intermezzo.client.node_models import ResourcesShape
from intermezzo.client.operation_models import FinishedOperationShape, OperationShape, ProgressShape
from intermezzo.client.shape import Shape
from intermezzo.client.snapshot_models import SavedShape
from intermezzo.domain.lifecycle import Command
from intermezzo.domain.workspace import Phase


class DataVolumeShape(Shape):
    """A data volume in a workspace, by its name in the namespace, and where it is."""

    volume: str
    path: str = ""
    read_only: bool = False


class SpecShape(Shape):
    """What the owner chose."""

    kind: str
    image: str
    pod: str
    display_name: str = ""
    env: dict[str, str] = Field(default_factory=dict)
    home: str = ""
    data: tuple[DataVolumeShape, ...] = ()


class ConditionShape(Shape):
    """Why a workspace is as it is, and the ways out, safest first."""

    reason: str
    message: str
    hint: str = ""
    ways_out: tuple[str, ...] = ()
    at: int = 0
    detail: str = ""


class OriginShape(Shape):
    """What a fork was made of: a snapshot of another workspace. `forked_at` is when it came to be, 0 until then."""

    workspace_uid: str
    namespace: str
    name: str
    snapshot_id: str
    forked_at: int = 0


class ReservationShape(Shape):
    """Capacity held on a node."""

    node: str
    amount: ResourcesShape
    since: int


class LayerShape(Shape):
    """One of the four layers of state: what a pause does with it, and how one gets it back."""

    name: str
    kept_by_pause: bool
    statement: str
    way_back: str


class QueueShape(Shape):
    """One workspace that waits for capacity; `position` 1 is next. `expected_at` is when its turn probably comes: an
    estimate from how long such sessions lasted before, null where too little is known for one."""

    namespace: str
    name: str
    position: int
    reason: str
    expected_at: int | None = None


class WorkspaceShape(Shape):
    """A workspace as a list shows it. `state` is the one plain word; `commands` is what it allows now; `origin` is
    there for a fork only."""

    uid: str
    namespace: str
    name: str
    owner: str
    spec: SpecShape
    phase: Phase
    state: str
    symbol: str
    phase_since: int
    created_at: int
    revision: int
    demand: ResourcesShape
    limits: ResourcesShape
    node: str = ""
    condition: ConditionShape | None = None
    operation: OperationShape | None = None
    last_operation: FinishedOperationShape | None = None
    progress: ProgressShape | None = None
    reservation: ReservationShape | None = None
    snapshot: SavedShape | None = None
    continuity: ContinuityShape | None = None
    origin: OriginShape | None = None
    commands: tuple[Command, ...] = ()


class WorkspaceDetail(WorkspaceShape):
    """A workspace with what a pause would keep of it and where it waits. `volume` is its home volume's name; `idle`
    says when it would be paused for being idle, and is null while it is not running. `recovery_text` is what its
    administrators want its owner to know when something went wrong. `recorded` is what its home tells of application
    checkpoints and the environment, null where its node cannot be asked."""

    volume: str = ""
    recovery_text: str = ""
    layers: list[LayerShape] = Field(default_factory=list)
    queue: QueueShape | None = None
    activity: list[ActivityShape] = Field(default_factory=list)
    recorded: HomeRecordShape | None = None
    idle: DecisionShape | None = None


class HomeShape(Shape):
    """The persistent files: how many, how large, and one sha256 over names and contents."""

    files: int
    bytes: int
    digest: str


class ConnectionShape(Shape):
    """How to reach a workspace through the gateway. `token` is a grant for it, good for twelve hours at most and no
    longer than what asked for it; programs send it as `Authorization: token …`. A browser needs none, only a login."""

    url: str
    base_url: str
    token: str = Field(repr=False)


class LogShape(Shape):
    """The newest lines of the log of the server in the sandbox."""

    text: str
