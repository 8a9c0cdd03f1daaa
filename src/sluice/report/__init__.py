"""What a run found, on one self-contained HTML page and on one screen."""
