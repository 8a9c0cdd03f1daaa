"""Is the data fit: rules with a severity, data docs, a profile, and drift against the champion's profile."""
