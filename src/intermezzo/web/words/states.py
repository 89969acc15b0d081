"""The words and shapes that people see for each phase: the same seven everywhere."""

from intermezzo.domain.workspace import Phase

STATE_WORDS: dict[Phase, str] = {
    Phase.QUEUED: "waiting for capacity",
    Phase.STARTING: "starting",
    Phase.RUNNING: "ready",
    Phase.PAUSING: "pausing",
    Phase.PAUSED: "paused",
    Phase.RESUMING: "resuming",
    Phase.FAILED: "needs you",
    Phase.DELETING: "deleting",
}

STATE_SHAPES: dict[Phase, str] = {
    Phase.QUEUED: "◌",
    Phase.STARTING: "◔",
    Phase.RUNNING: "●",
    Phase.PAUSING: "◑",
    Phase.PAUSED: "◐",
    Phase.RESUMING: "◕",
    Phase.FAILED: "▲",
    Phase.DELETING: "×",
}
