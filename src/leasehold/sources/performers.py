"""Performers of each dialect as records: the same words, spellings and units for all."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from leasehold.sources.countries import country_code
from leasehold.sources.models import JSON, Mapped
from leasehold.sources.urls import Address, Addresses

PERFORMER = "performer"
_LONGEST_NAME = 300
_MOST = 200  # aliases, urls, images
_INCH_CM = 2.54
_DATE = re.compile(r"^([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?(?:[ T]00:00.*)?$")
_GENDERS = {"trans_female": "transgender_female", "trans_male": "transgender_male", "trans": "transgender_female"}


class _Reading:
    """What is read of one performer, and what could not be."""

    def __init__(self, raw: JSON) -> None:
        self._raw = raw
        self.faults: list[str] = []

    def text(self, name: str) -> str | None:
        value = self._raw.get(name)
        if value is None or value == "":
            return None
        if not isinstance(value, str) or "\x00" in value:
            self._bad(name, "is no text")
            return None
        return " ".join(value.split()) or None

    def number(self, name: str) -> int | None:
        """A number, also one that stands at the beginning of a text."""
        value = self._raw.get(name)
        if value in (None, "", 0, "0"):
            return None
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        match = (
            re.match(r"^\s*([0-9]{1,6})(?:\.[0-9]+)?\s*(?:cm|kg|in|\"|lbs?)?\s*$", value) if _is_text(value) else None
        )
        if match is None:
            self._bad(name, "is no number")
        return int(match[1]) if match else None

    def date(self, name: str) -> str | None:
        """As much of a date as is known: year, month, day. Zeros are what some write for what they do not know."""
        value = self.text(name)
        if value is None or value.startswith("0000"):
            return None
        match = _DATE.match(value)
        if match is None or not 1850 <= int(match[1]) <= 2100:
            self._bad(name, "is no date")
            return None
        known = [part for part in match.groups() if part is not None]
        while known[-1] == "00":
            known.pop()
        if any(not 1 <= int(part) <= most for part, most in zip(known[1:], (12, 31), strict=False)):
            self._bad(name, "is no date")
            return None
        return "-".join(known)

    def word(self, name: str) -> str | None:
        """One of few: small letters, and nothing else."""
        value = self.text(name)
        return re.sub(r"[^a-z0-9]+", "_", value.lower()).strip("_") or None if value else None

    def texts(self, name: str) -> list[str]:
        value = self._raw.get(name)
        if value is None:
            return []
        if not isinstance(value, list) or not all(_is_text(one) for one in value):
            self._bad(name, "is no list of texts")
            return []
        return _each_once(" ".join(one.split()) for one in value)

    def _bad(self, name: str, why: str) -> None:
        self.faults.append(f"{name} {why}")


def from_stashbox(source: str, raw: Any, addresses: Addresses) -> Mapped:
    """A performer of a stash-box."""
    if not isinstance(raw, dict):
        return Mapped(None, ["it is no object"])
    it = _Reading(raw)
    found = [_address(addresses, one) for one in _dicts(raw.get("urls"))]
    attributes = {
        "birthdate": it.date("birth_date"),
        "deathdate": it.date("death_date"),
        "gender": it.word("gender"),
        "ethnicity": it.word("ethnicity"),
        "country": country_code(it.text("country")),
        "eye_color": it.word("eye_color"),
        "hair_color": it.word("hair_color"),
        "height_cm": it.number("height"),
        "cup_size": it.text("cup_size"),
        "band_size": it.number("band_size"),
        "waist_size": it.number("waist_size"),
        "hip_size": it.number("hip_size"),
        "breast_type": it.word("breast_type"),
        "career_start": it.number("career_start_year"),
        "career_end": it.number("career_end_year"),
        "disambiguation": it.text("disambiguation"),
        "tattoos": _marks(raw.get("tattoos")),
        "piercings": _marks(raw.get("piercings")),
    }
    images = [image.get("url") for image in _dicts(raw.get("images"))]
    # Whom the source itself has put together is one: the ids it has retired are ids of the one that is left.
    return _record(source, it, [it.text("id"), *it.texts("merged_ids")], found, attributes, images)


def from_theporndb(source: str, raw: Any, addresses: Addresses) -> Mapped:
    """A performer of ThePornDB: British spellings, units inside of texts, and a country by its name."""
    extras = raw.get("extras") if isinstance(raw, dict) else None
    if not isinstance(raw, dict) or not isinstance(extras, dict):
        return Mapped(None, ["it is no performer: there are no extras"])
    it, more = _Reading(raw), _Reading(extras)
    links = extras.get("links")
    found = [addresses.read(url) for url in links.values()] if isinstance(links, dict) else []
    gender = more.word("gender")
    cup, band, waist, hip = _sizes(more)
    attributes = {
        "birthdate": more.date("birthday"),
        "gender": _GENDERS.get(gender, gender) if gender else None,
        "ethnicity": more.word("ethnicity"),
        "country": country_code(more.text("birthplace_code")) or country_code(more.text("nationality")),
        "eye_color": more.word("eye_colour"),
        "hair_color": more.word("hair_colour"),
        "height_cm": _height(more),
        "weight_kg": more.number("weight"),
        "cup_size": cup,
        "band_size": band,
        "waist_size": waist,
        "hip_size": hip,
        "career_start": more.number("career_start_year"),
        "career_end": more.number("career_end_year"),
    }
    it.faults += more.faults
    images = [raw.get("face"), raw.get("image"), *(poster.get("url") for poster in _dicts(raw.get("posters")))]
    return _record(source, it, [it.text("id")], found, attributes, images)


def _record(
    source: str,
    it: _Reading,
    ids: Iterable[str | None],
    found: Iterable[Address | None],
    attributes: Mapping[str, Any],
    images: Iterable[Any],
) -> Mapped:
    own = _each_once(ids)
    name = it.text("name")
    if not own or name is None or len(name) > _LONGEST_NAME:
        reason = "it has no id" if not own else "it has no name" if name is None else "its name is too long"
        return Mapped(None, [reason, *it.faults])
    external_ids: dict[str, list[str]] = {source: own}
    urls: dict[str, list[str]] = {}
    for address in filter(None, found):
        urls[address.namespace] = _each_once([*urls.get(address.namespace, []), address.url])
        if address.id:
            external_ids[address.namespace] = _each_once([*external_ids.get(address.namespace, []), address.id])
    item = {
        "source": source,
        "source_id": own[0],
        "kind": PERFORMER,
        "name": name,
        "aliases": [alias for alias in it.texts("aliases") if alias != name and len(alias) <= _LONGEST_NAME],
        "external_ids": external_ids,
        "urls": urls,
        "attributes": {key: value for key, value in attributes.items() if value is not None},
        "images": _each_once(url for url in images if _is_text(url) and url.startswith(("http://", "https://"))),
    }
    return Mapped(item, it.faults)


def _sizes(more: _Reading) -> tuple[str | None, int | None, int | None, int | None]:
    """Cup, band, waist and hip, from fields of their own or out of `34C-24-34`."""
    whole = re.match(r"^([0-9]{2})?([A-Z]{1,3})?-([0-9]{2})-([0-9]{2})$", more.text("measurements") or "")
    cup = re.match(r"^([0-9]{2})?([A-Z]{1,3})$", more.text("cupsize") or "")
    band = (cup and cup[1]) or (whole and whole[1])
    return (
        (cup and cup[2]) or (whole and whole[2]) or None,
        int(band) if band else None,
        more.number("waist") or (int(whole[3]) if whole else None),
        more.number("hips") or (int(whole[4]) if whole else None),
    )


def _height(more: _Reading) -> int | None:
    feet = re.match(r"^([4-7])'\s*([0-9]{1,2})?\"?$", more.text("height") or "")
    if feet:
        return round((int(feet[1]) * 12 + int(feet[2] or 0)) * _INCH_CM)
    return more.number("height")


def _address(addresses: Addresses, one: JSON) -> Address | None:
    site = one.get("site")
    return addresses.read(one.get("url", ""), site.get("id") if isinstance(site, dict) else None)


def _marks(several: Any) -> str | None:
    told = [" ".join(str(one[key]) for key in ("location", "description") if one.get(key)) for one in _dicts(several)]
    return "; ".join(sorted(filter(None, told))) or None


def _dicts(several: Any) -> list[JSON]:
    return [one for one in several if isinstance(one, dict)][:_MOST] if isinstance(several, list) else []


def _each_once(several: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(one for one in several if one))[:_MOST]


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and "\x00" not in value
