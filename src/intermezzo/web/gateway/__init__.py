"""What the gateway asks of the control plane, and the door: who may enter a workspace, for how long, and what they see
while it does not run."""
