"""The file that switches faces on: which models, checked on which canary, and for which sources on what ground."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from leasehold.faces.manifest import PRESETS, Manifest
from leasehold.faces.models import MOST_FACES
from leasehold.faces.problems import FacesInvalid

_STRICT = ConfigDict(extra="forbid", frozen=True)


class Source(BaseModel):
    """One source that opted in. Nothing of a source that is not listed is ever fetched or embedded."""

    model_config = _STRICT

    # In a sentence: whoever asks is told it, and whoever writes it has thought about it.
    legal_basis: str = Field(min_length=10, max_length=2000)
    # Vectors and pictures of it are deleted after so many days.
    retention_days: int = Field(ge=1, le=3650)
    # Otherwise of a picture only its digest is kept.
    keep_images: bool = False


class Setup(BaseModel):
    """Everything that faces need to be told."""

    model_config = _STRICT

    embedders: tuple[Manifest, ...] = Field(min_length=1, max_length=2)
    canary: Path
    sources: Mapping[str, Source] = Field(min_length=1)
    images_per_record: int = Field(MOST_FACES, ge=1, le=MOST_FACES)

    @field_validator("embedders", mode="before")
    @classmethod
    def _from_presets(cls, given: Any) -> Any:
        return [_whole(one) for one in given] if isinstance(given, list) else given

    @model_validator(mode="after")
    def _are_different(self) -> Self:
        if len({one.sha256 for one in self.embedders}) < len(self.embedders):
            raise ValueError("two embedders agree only if they are two: these have the same weights")
        return self

    @property
    def digest(self) -> bytes:
        """What a record was looked at with."""
        return hashlib.sha256(b"".join(sorted(one.digest for one in self.embedders))).digest()


def _whole(given: Any) -> Any:
    """A manifest with what its preset says, where the file says nothing else."""
    if not isinstance(given, dict) or "preset" not in given:
        return given
    said = dict(given)
    name = said.pop("preset")
    if name not in PRESETS:
        raise ValueError(f"there is no preset {name!r}; there are {', '.join(PRESETS)}")
    return {**PRESETS[name], **said}


def read(file: Path) -> Setup:
    """The configuration; paths in it are taken from its own folder. Raises FacesInvalid."""
    try:
        said = yaml.safe_load(file.read_text(encoding="utf-8"))
        setup = Setup.model_validate(said)
    except (OSError, UnicodeDecodeError) as error:
        raise FacesInvalid(f"{file} cannot be read: {getattr(error, 'strerror', None) or 'it is no text'}.") from None
    except yaml.YAMLError as error:
        raise FacesInvalid(f"{file} is no YAML: {error}") from None
    except ValidationError as error:
        faults = error.errors(include_input=False, include_url=False, include_context=False)
        told = [
            f"{'.'.join(map(str, one['loc'])) or 'it'}: {one['msg'].removeprefix('Value error, ')}" for one in faults
        ]
        raise FacesInvalid(f"{file}: {'; '.join(told)}.") from None
    beside = file.resolve().parent
    embedders = [one.model_copy(update={"file": beside / one.file}) if one.file else one for one in setup.embedders]
    return setup.model_copy(update={"embedders": tuple(embedders), "canary": beside / setup.canary})
