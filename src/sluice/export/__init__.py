"""From a trained model to the files that each engine loads, checked against the model itself."""
