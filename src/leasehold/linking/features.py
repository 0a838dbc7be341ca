"""Records as they are compared: normalised once, with the keys under which their like are found."""

from leasehold.linking import values
from leasehold.linking.epochs import Epoch
from leasehold.linking.keys import Keymaker, rules_without_counting
from leasehold.linking.names import Name
from leasehold.linking.records import Record
from leasehold.linking.tables import Tables, tables_of
from leasehold.linking.text import address


class Features:
    """What one record looks like in one epoch."""

    __slots__ = ("_keymaker", "extra", "ids", "kind", "names", "record", "source", "urls", "values", "version")

    def __init__(self, record: Record, tables: Tables, keymaker: Keymaker) -> None:
        self.record = record
        self.kind = record.kind
        self.source = record.source
        self.version = tables.epoch.version
        self.names = _names(record, tables)
        self.values: list[tuple[str, ...] | None] = [None] * len(tables.fields)
        self.extra: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._read(record, tables)
        hubs = tables.hubs
        ids = [(space, one) for space, many in record.external_ids.items() for one in many if one]
        self.ids = frozenset(pair for pair in ids if f"id|{pair[0]}|{pair[1]}" not in hubs)
        urls = [one for many in record.urls.values() for url in many if (one := address(url))]
        self.urls = frozenset(url for url in urls if f"url|{url}" not in hubs)
        self._keymaker = keymaker

    @property
    def keys(self) -> tuple[str, ...]:
        """Under what it is found. Made when asked for: they are most of a record, and asked for once."""
        keys = self._keymaker(self.names, self.values)
        keys.update(f"id|{space}|{one}" for space, one in self.ids)
        keys.update(f"url|{url}" for url in self.urls)
        return tuple(sorted(keys))

    def _read(self, record: Record, tables: Tables) -> None:
        for key, value in record.attributes.items():
            known = tables.synonyms.get(key, key)
            at = tables.position.get(known)
            if at is None:
                if known not in tables.epoch.weights:
                    self._read_unknown(known, value)
                continue
            written = values.write(tables.fields[at].weights.compare, value)
            if written:
                self.values[at] = tuple(sorted({*written, *(self.values[at] or ())}))

    def _read_unknown(self, key: str, value: object) -> None:
        shown = values.infer([values.texts(value)])
        if shown in ("category", "text"):  # one value does not show which; a single word says less than it seems to
            shown = "text" if any(" " in text for text in values.texts(value)) else "category"
        written = values.write(shown, value)
        if written:
            self.extra[key] = (shown, written)


def _names(record: Record, tables: Tables) -> tuple[Name, ...]:
    found: dict[str, Name] = {}
    for raw in (record.name, *record.aliases):
        name = tables.names[raw]
        if name.text:
            found.setdefault(name.text, name)
    return tuple(found.values())


def keymaker_of(tables: Tables) -> Keymaker:
    if tables.keymaker is None:
        tables.keymaker = Keymaker(tables, tables.epoch.rules or rules_without_counting(tables))
    return tables.keymaker


def describe(record: Record, epoch: Epoch) -> Features:
    """Normalise a record once, as the epoch sees it. Only features of one epoch can be compared."""
    tables = tables_of(epoch)
    return Features(record, tables, keymaker_of(tables))
