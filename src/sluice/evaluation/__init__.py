"""How good the model's answers are: per class, calibration, engine against eager, candidate against champion."""
