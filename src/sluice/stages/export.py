"""Make one engine's folder from the captured model, and judge it. A bad export is a result, not an error."""

from sluice import tasks
from sluice.config import Params
from sluice.config.plugins import split_engine_name
from sluice.data.store import open_split
from sluice.export.eager import eager_predictor
from sluice.export.probes import BATCHES, spread_rows
from sluice.export.run import export_engine
from sluice.io import files, paths
from sluice.io.evidence import Evidence

__all__ = ["run"]


def run(params: Params, engine: str) -> None:
    val = open_split(paths.split_folder("val"))
    signature = files.read_json(paths.CAPTURED / paths.SIGNATURE_NAME)
    with files.atomic_folder(paths.exported(engine)) as folder:
        exported = export_engine(
            engine,
            captured=paths.CAPTURED,
            folder=folder,
            reference=eager_predictor(paths.TRAINED, threads=1),
            inputs=tasks.load(signature["task"]).inputs(val, spread_rows(val.labels, n=max(BATCHES))),
            options=params.export.options.get(split_engine_name(engine)[0], {}),
        )
        evidence = Evidence(
            stage="export",
            weights=signature["weights"],
            split=val.name,
            split_digest=val.digest,
            exported={engine: files.digest_folder(folder, without=(paths.PARITY_NAME,))},
            params=files.digest_json(params.export.options),
        )
        files.write_json(folder / paths.PARITY_NAME, {**exported.as_json(), "evidence": evidence.as_json()})
    print(f"{engine}: {exported.status}" + (f", {exported.reason}" if exported.reason else ""))
