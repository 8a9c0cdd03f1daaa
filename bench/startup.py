"""`sluice --help` against the smallest program that imports typer and pydantic, in interleaved rounds."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ratios import median_ratio, write

ROUNDS = 15
EMPTY = """
import pydantic
import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def main() -> None:
    pass


app()
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "empty.py"
        program.write_text(EMPTY, encoding="utf-8")
        sluice = [str(Path(sys.executable).parent / "sluice"), "--help"]
        pairs = [(_seconds(sluice), _seconds([sys.executable, str(program), "--help"])) for _ in range(ROUNDS)]
    figures = {"help_vs_empty_program": median_ratio([a / b for a, b in pairs[1:]], target=1.5, at="most")}
    write("startup", figures, seconds={"sluice": [a for a, _ in pairs], "empty": [b for _, b in pairs]})


def _seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
