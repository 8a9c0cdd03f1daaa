"""A linear model on the train split, scored on the gate split: what gate.floors must be above."""

import numpy as np
from ratios import Ratio, write
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score, recall_score

from sluice import config
from sluice.data.store import open_split
from sluice.io import paths

SAMPLES = 20_000


def main() -> None:
    train, gate = (open_split(paths.split_folder(name)) for name in ("train", "gate"))
    rows = np.random.default_rng(0).permutation(len(train))[:SAMPLES]
    linear = LogisticRegression(C=0.1, max_iter=200)
    linear.fit(train.images[rows].reshape(len(rows), -1) / 255, train.labels[rows])
    given = linear.predict(gate.images.reshape(len(gate), -1) / 255)
    scores = {
        "accuracy": accuracy_score(gate.labels, given),
        "balanced_accuracy": balanced_accuracy_score(gate.labels, given),
        "worst_class_recall": recall_score(gate.labels, given, average=None).min(),
    }
    floors = config.load().gate.floors.model_dump()
    figures = {
        name: Ratio(float(value), *[float(value)] * 2, floors[name], bool(value < floors[name]))
        for name, value in scores.items()
    }
    write("floors", figures, model="scikit-learn LogisticRegression, C 0.1", samples=len(rows), gate=len(gate))


if __name__ == "__main__":
    main()
