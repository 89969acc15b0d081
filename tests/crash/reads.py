"""The steps after which nothing is killed: they change nothing, so to die after one is to die after the step before.

Whatever is not named here is killed at. A new call that only reads is added to spare the time.
"""

CONTROL_READS = {
    *(
        f"cluster.{name}"
        for name in (
            "nodes",
            "observe",
            "observe_all",
            "sites",
            "examine",
            "logs",
            "home",
            "home_record",
            "stored",
            "activity",
        )
    ),
    *(f"session.{name}" for name in ("witness", "answers", "kernels", "accepts", "identity")),
    *(f"store.{name}" for name in ("get", "find", "workspaces", "reservations", "ledger", "runs", "setting")),
    *(f"store.{name}" for name in ("activity", "activities", "newest_activity")),
    *(f"store.accounts.{name}" for name in ("account", "accounts", "persons", "team", "teams", "memberships", "audit")),
    *(f"store.accounts.{name}" for name in ("bearer", "bearers", "credentials")),
    *(
        f"store.notices.{name}"
        for name in ("in_force", "of_subject", "of_workspaces", "find", "undelivered", "deliveries")
    ),
    *(f"store.volumes.{name}" for name in ("volumes", "deleting", "find", "users")),
    *(f"store.leases.{name}" for name in ("leases", "lease")),
    "store.catalog.documents",
}
NODE_READS = {
    *(f"engine.{name}" for name in ("endpoint", "image_bytes", "log", "memory_bytes", "pids", "processor_us")),
    *(f"engine.{name}" for name in ("remains", "specification")),
    *(f"snapshots.{name}" for name in ("complete", "find", "misfit", "partial", "path", "volume_ids", "workspaces")),
    *(f"snapshots.{name}" for name in ("believed", "leaving", "usable")),
    *(f"volumes.{name}" for name in ("path", "summary")),
    *(f"guest.{name}" for name in ("activity", "preflight", "probe", "close")),
    "records.load_all",
}
