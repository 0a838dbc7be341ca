"""ThePornDB's REST dialect over the same people: a Laravel envelope, British spellings, and units inside of texts."""

import random
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from leasehold.simulate.box_control import BoxControl
from leasehold.simulate.boxes import NAMES, THEPORNDB, id_of, is_in, number_of
from leasehold.simulate.control import answer
from leasehold.simulate.credentials import bearer
from leasehold.simulate.people import People, Person

_HAS_PERCENT = 55
_PER_PAGE = 20
_MOST_PER_PAGE = 100
_COUNTRIES = {"US": "United States", "GB": "United Kingdom", "DE": "Germany", "JP": "Japan", "BR": "Brazil"}


class ThePornDbApi:
    def __init__(self, people: People, boxes: tuple[str, ...], control: BoxControl) -> None:
        self._people = people
        self._boxes = boxes
        self._control = control
        self.ids = {
            id_of(people.seed, THEPORNDB, number): number
            for number in range(people.count)
            if number_of("has", people.seed, THEPORNDB, number) % 100 < _HAS_PERCENT
        }

    def routes(self) -> list[Route]:
        return [
            Route("/theporndb/performers", self._list, methods=["GET"]),
            Route("/theporndb/performers/{id}", self._one, methods=["GET"]),
        ]

    async def _list(self, request: Request) -> Response:
        asked = request.query_params
        try:
            page, per_page = max(int(asked.get("page", "1")), 1), int(asked.get("per_page", str(_PER_PAGE)))
        except ValueError:
            return answer({"message": "The page must be an integer."}, 422)
        if refused := await self._refusal(request, f"performers:{page}"):
            return refused
        per_page = max(1, min(per_page, self._control.manners[THEPORNDB].most_per_page or _MOST_PER_PAGE))
        words = asked.get("q", "").casefold()
        ids = [one for one, number in self.ids.items() if words in self._people[number].name.casefold()]
        last = max(1, -(-len(ids) // per_page))
        address = f"{request.base_url}theporndb/performers"
        chosen = ids[(page - 1) * per_page : page * per_page]
        return answer(
            {
                "data": [self._performer(request, one) for one in chosen],
                "links": {
                    "first": f"{address}?page=1",
                    "last": f"{address}?page={last}",
                    "prev": f"{address}?page={page - 1}" if page > 1 else None,
                    "next": f"{address}?page={page + 1}" if page < last else None,
                },
                "meta": {"current_page": page, "last_page": last, "per_page": per_page, "total": len(ids)},
            }
        )

    async def _one(self, request: Request) -> Response:
        wanted = request.path_params["id"]
        if refused := await self._refusal(request, f"performer:{wanted}"):
            return refused
        if wanted not in self.ids:
            return answer({"message": "No query results for model."}, 404)
        return answer({"data": self._performer(request, wanted)})

    async def _refusal(self, request: Request, what: str) -> Response | None:
        if refused := await self._control.met(THEPORNDB, what):
            return refused
        return None if bearer(request) else answer({"message": "Unauthenticated."}, 401)

    def _performer(self, request: Request, performer: str) -> dict[str, Any]:
        person = self._people[self.ids[performer]]
        lot = random.Random(f"tpdb {self._people.seed} {person.number}")  # noqa: S311
        image = f"{request.base_url}images/{performer}.png"
        return {
            "id": performer,
            "_id": person.number + 1,
            "slug": person.handle,
            "name": person.name,
            "bio": "",
            "is_parent": True,
            "aliases": list(person.aliases[: lot.randint(0, 2)]),
            "image": image,
            "thumbnail": image,
            "face": None,
            "posters": [{"id": person.number + 1, "url": image, "size": 1, "order": 1}],
            "extras": self._extras(lot, person),
        }

    def _extras(self, lot: random.Random, person: Person) -> dict[str, Any]:
        def maybe(value: Any, percent: int = 70) -> Any:
            return value if lot.randrange(100) < percent else None

        at_midnight = f"{person.birthdate} 00:00:00" if lot.random() < 0.3 else person.birthdate
        links = {"Twitter": f"https://twitter.com/{person.handle}"} if lot.random() < 0.4 else {}
        if lot.random() < 0.2 and is_in(self._people.seed, NAMES[0], person.number, self._boxes):
            links["StashDB"] = f"https://stashdb.org/performers/{id_of(self._people.seed, NAMES[0], person.number)}"
        return {
            "gender": maybe(person.gender.replace("_", " ").capitalize(), 90),
            "birthday": maybe(at_midnight),
            "birthplace": maybe(_COUNTRIES.get(person.country)),
            "birthplace_code": maybe(person.country),
            "nationality": maybe(_COUNTRIES.get(person.country)),
            "ethnicity": maybe(person.ethnicity.capitalize()),
            "hair_colour": maybe(person.hair.capitalize()),
            "eye_colour": maybe(person.eyes.capitalize()),
            "height": maybe(f"{person.height_cm}cm"),
            "weight": maybe(f"{lot.randint(45, 90)}kg"),
            "measurements": maybe(f"{person.band}{person.cup}-{person.waist}-{person.hip}"),
            "cupsize": maybe(f"{person.band}{person.cup}"),
            "waist": maybe(f"{person.waist}"),
            "hips": maybe(f"{person.hip}"),
            "tattoos": None,
            "piercings": None,
            "career_start_year": maybe(person.career_start),
            "career_end_year": maybe(person.career_end),
            "links": links or [],  # an empty one is a list there, as PHP writes it
        }
