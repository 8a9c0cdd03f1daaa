"""What all sections of params.yaml have in common: no unknown key, no change after reading, no silent conversion."""

from pydantic import BaseModel, ConfigDict

from sluice.io import files

__all__ = ["Section"]


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)

    def digest(self) -> str:
        return files.digest_json(self.model_dump(mode="json"))
