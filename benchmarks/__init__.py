"""Speed, measured: our pause and resume beside the bare engine's, as ratios within one run."""
