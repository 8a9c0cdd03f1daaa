"""Names of artefacts, whole files, digests, evidence, and one process per stage."""
