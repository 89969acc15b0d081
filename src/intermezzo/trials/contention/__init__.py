"""The trial under contention: nearly everything is taken, and many come back at the same moment."""
