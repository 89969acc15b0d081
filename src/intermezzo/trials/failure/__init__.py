"""The trial of a failure: the session is wanted back, and nothing there can bring it back."""
