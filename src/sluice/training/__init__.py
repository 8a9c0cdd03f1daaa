"""The training loop as a ladder, `train_step`, `run_epoch`, `fit`, in pure PyTorch; it knows no data format."""
