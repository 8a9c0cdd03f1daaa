"""Timing in interleaved rounds. Imports neither torch nor an engine: what is timed comes in as a function."""
