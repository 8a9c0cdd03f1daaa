"""From files of labelled samples to an index, splits, a memory-mapped store and batches."""
