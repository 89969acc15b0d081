"""What the public API says about schedules. Times are epoch milliseconds, UTC."""

from intermezzo.client.shape import Shape
from intermezzo.domain.schedule import Action


class ScheduleShape(Shape):
    """When a workspace is paused or resumed by itself.

    `rule` is a time of day on some days (`mon-fri 20:00`, `daily 20:00`) or once (`2026-12-01T20:00`), in `zone`.
    `next_at` is when it comes next and `begins_at` when something is done for it: earlier for `ready`. `held_until` is
    how long a keep-awake lease holds back the one that is due, 0 where none does.
    """

    id: str
    action: Action
    rule: str
    zone: str
    set_by: str
    set_at: int
    next_at: int
    begins_at: int
    held_until: int
