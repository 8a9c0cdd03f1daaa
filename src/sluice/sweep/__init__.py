"""The search for better values: one Optuna study per set of inputs, which a killed run continues."""
