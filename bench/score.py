"""Print the accuracy of the trained model of the current workspace on its gate split."""

import torch

from sluice import tasks
from sluice.data.store import open_split
from sluice.io import paths
from sluice.tasks.trained import load_trained

if __name__ == "__main__":
    net, card = load_trained(paths.TRAINED)
    task = tasks.load(card.task)
    split = open_split(paths.split_folder("gate"))
    with torch.inference_mode():
        correct = [
            int(task.correct(net(batch.inputs), batch.targets).sum())
            for batch in task.eval_batches(split, schema=card.schema, batch_size=500)
        ]
    print(sum(correct) / len(split))
