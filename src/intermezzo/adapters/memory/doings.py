"""What people and programs do in a simulated sandbox beside its kernels, for a test to set. A pause keeps it."""

from dataclasses import dataclass, field

from intermezzo.domain.home_record import SaveAnswer
from intermezzo.domain.readings import AcceleratorUse, KeepAwake, TerminalReading


@dataclass(slots=True)
class Doings:
    """`terminals` by the process id of their shells. `server_seen` and `editor_seen` are what an open tab moves.
    `probe` is what an activity script writes; None lets every script fail. `keepers` is what programs answer when they
    are asked for checkpoints."""

    terminals: dict[int, TerminalReading] = field(default_factory=dict)
    cpu_millis: int = 0
    memory_bytes: int = 100 << 20
    accelerators: tuple[AcceleratorUse, ...] = ()
    server_seen: int = 0
    editor_seen: int = 0
    keep_awake: KeepAwake | None = None
    probe: str | None = ""
    keepers: tuple[SaveAnswer, ...] = ()

    def run_in_terminal(self, shell: int, job: str, since: int) -> None:
        """The program is in the foreground of a terminal from now on."""
        self.terminals[shell] = TerminalReading(shell, job, since)

    def end_in_terminal(self, shell: int) -> None:
        """The terminal's shell waits for input again."""
        self.terminals[shell] = TerminalReading(shell)
