"""Small architectures, the door to your own in plugins/, and trained weights on disk."""
