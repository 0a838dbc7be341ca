"""Front door of faces: vectors of pictures, of sources that opted in, as one part of the evidence on two records."""

from leasehold.faces.checks import check
from leasehold.faces.configuration import Setup, Source, read
from leasehold.faces.evidence import agreed, part
from leasehold.faces.manifest import PRESETS, Manifest
from leasehold.faces.models import Calibration, Embedder, Erased, Face, Open, Part, Propose, Wanting
from leasehold.faces.problems import FacesInvalid, ImageRefused, ModelRefused
from leasehold.faces.service import EVERY_S, EXPIRE_EVERY_S, TABLES, Faces, expire, vacuum
from leasehold.faces.store import erase

__all__ = [
    "EVERY_S",
    "EXPIRE_EVERY_S",
    "PRESETS",
    "TABLES",
    "Calibration",
    "Embedder",
    "Erased",
    "Face",
    "Faces",
    "FacesInvalid",
    "ImageRefused",
    "Manifest",
    "ModelRefused",
    "Open",
    "Part",
    "Propose",
    "Setup",
    "Source",
    "Wanting",
    "agreed",
    "check",
    "erase",
    "expire",
    "part",
    "read",
    "vacuum",
]
