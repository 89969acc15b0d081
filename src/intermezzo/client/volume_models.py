"""What the public API says about volumes. Times are epoch milliseconds, UTC."""

from intermezzo.client.shape import Shape
from intermezzo.domain.volumes import Purpose


class VolumeShape(Shape):
    """A volume. `used_by` are the workspaces that use it and that whoever asks may see, `users` is how many use it in
    all. `deleting_at` is 0 unless it is being deleted."""

    id: str
    namespace: str
    name: str
    owner: str
    purpose: Purpose
    created_at: int
    deleting_at: int = 0
    users: int = 0
    used_by: tuple[str, ...] = ()
