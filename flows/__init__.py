"""When and where the stages run. The only importer of prefect; no learning happens here, and nothing is cached."""
