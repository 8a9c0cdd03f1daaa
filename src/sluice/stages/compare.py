"""Candidate against champion: accuracy on the same gate split, latency in interleaved pairs, engine by engine."""

from contextlib import closing
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sluice import engines
from sluice.benchmark.paired import paired_ratio
from sluice.config import Params
from sluice.config.schema import read_schema
from sluice.data.store import Split, open_split
from sluice.evaluation import comparison, folders
from sluice.evaluation.answers import collect_logits
from sluice.io import files, paths
from sluice.io.evidence import Evidence

__all__ = ["run"]

_BATCH_SIZE, _SEED = 256, 0


def run(params: Params) -> None:
    champion, split = files.read_json(paths.REGISTRY)["champion"], open_split(paths.split_folder("gate"))
    made = [at for at in map(paths.exported, params.export.engines) if at.is_dir()]
    evidence = Evidence(
        stage="compare",
        weights=(weights := files.digest_file(paths.WEIGHTS)),
        split="gate",
        split_digest=split.digest,
        exported={at.name: files.digest_folder(at, without=(paths.PARITY_NAME,)) for at in made},
        params=params.compare.digest(),
    )
    found = comparison.unmeasured(champion, weights=weights, exported=evidence.exported)
    if champion is not None and not found["same"]:
        with TemporaryDirectory() as folder:
            match = _Match(params, champion, split, Path(folder))
            common = [engine for engine in params.export.engines if engine in champion["exported"]]
            scored = next((engine for engine in params.gate.required if engine in common), None)
            found["accuracy"] = comparison.accuracy_or_state(scored, match.accuracy)
            for engine in params.export.engines:
                found["latency"][engine] = comparison.latency_or_state(engine, match.latency, common=common)
    files.write_json(paths.COMPARISON, found | {"evidence": evidence.as_json()})
    print(comparison.sentence(found))


class _Match:
    def __init__(self, params: Params, champion: dict[str, Any], split: Split, folder: Path) -> None:
        self._params, self._champion, self._split = params, champion, split
        from sluice import tasks  # here, since mostly there is nothing to compare with, and it takes seconds

        self._inputs = partial(tasks.load(read_schema().task).inputs, split)
        self._fetch = cache(partial(self._download, folder))

    def accuracy(self, engine: str) -> dict[str, Any]:
        theirs, mine, classes = self._fetch(engine), paths.exported(engine), read_schema().classes
        logits = folders.read_logits(paths.OUTPUTS, engine=engine)
        with closing(engines.load(engine, theirs, threads=self._params.compare.threads)) as predict:
            asked = collect_logits(predict, self._inputs, n=len(self._split), batch_size=_BATCH_SIZE)
        candidate = comparison.Contender(folders.read_face(mine).classes, logits)
        champion = comparison.Contender(folders.read_face(theirs).classes, asked)
        return comparison.compare_accuracy(candidate, champion, labels_N=self._split.labels, classes=classes)

    def latency(self, engine: str) -> dict[str, Any]:
        config, margin = self._params.compare, self._params.gate.latency_margin
        load, inputs = partial(engines.load, engine, threads=config.threads), self._inputs(slice(config.batch))
        with closing(load(paths.exported(engine))) as mine, closing(load(self._fetch(engine))) as theirs:
            runs = partial(mine, inputs), partial(theirs, inputs)
            ratio = paired_ratio(*runs, pairs=config.pairs, margin=margin, seed=_SEED)
        return comparison.latency_json(**asdict(ratio))

    def _download(self, folder: Path, engine: str) -> Path:
        """The champion's files, proven to be those on record and to take what the candidate takes."""
        from sluice.tracking import registry
        from sluice.tracking.store import open_store

        store, run_id = open_store(self._params.tracking), self._champion["run_id"]
        theirs = registry.download(store, run_id=run_id, artifact=f"exported/{engine}", to=folder)
        folders.check_comparable(paths.exported(engine), theirs, digest=self._champion["exported"][engine])
        return theirs
