"""How each kind is linked, as configuration says it."""

from collections.abc import Mapping
from pathlib import Path

import yaml

from leasehold.linking import PERFORMER, Policy, PolicyFault

# What holds for a kind unless configuration says otherwise.
SHIPPED: Mapping[str, Policy] = {"performer": PERFORMER}


class PoliciesInvalid(Exception):
    """The file cannot be used; the message says where and why."""


def read_policies(file: Path | None) -> Mapping[str, Policy]:
    """The policies of a YAML file, kind by kind, beside those that are shipped. Raises PoliciesInvalid."""
    if file is None:
        return SHIPPED
    try:
        document = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise PoliciesInvalid(f"The policies in {file} cannot be read ({type(error).__name__}).") from None
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f", line {where.line + 1}" if where else ""
        raise PoliciesInvalid(f"{file}{line}: this is no YAML.") from None
    if not isinstance(document, Mapping):
        raise PoliciesInvalid(f"{file}: name kinds, and for each how it is linked, such as `performer: {{join: 4}}`.")
    found = dict(SHIPPED)
    for kind, said in document.items():
        if not isinstance(said, Mapping):
            raise PoliciesInvalid(f"{file}: {kind}: must be a mapping of settings.")
        try:
            found[str(kind)] = Policy.parse(said)
        except PolicyFault as error:
            raise PoliciesInvalid(f"{file}: {kind}: {error}") from None
    return found
