"""Intervals, paired comparisons and drift: plain numbers in, plain numbers out."""
