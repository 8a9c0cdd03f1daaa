"""Where the time of a training step goes, and a trace to look at it closely."""
