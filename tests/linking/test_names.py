"""Names: alphabets, order, short forms, typing errors, and what cannot be compared."""

import pytest

from leasehold.linking import DEFAULT, SAME_NAME, Evidence, Policy, Record, compare, describe, prior, same_name


def named(name: str, *aliases: str, source_id: str = "1") -> Record:
    return Record("file", source_id, "person", name, aliases=aliases)


def compared(a: Record, b: Record, policy: Policy = DEFAULT) -> Evidence:
    epoch = prior(policy)
    return compare(describe(a, epoch), describe(b, epoch), epoch)


def outcome(a: str, b: str, policy: Policy = DEFAULT) -> str:
    found = [part.outcome for part in compared(named(a), named(b, source_id="2"), policy).parts if part.field == "name"]
    return found[0] if found else "not compared"


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ("Mia Thermopolis", "mia  THERMOPOLIS", "same"),
        ("Zoë Müller-Lüdenscheidt", "Zoe Muller Ludenscheidt", "same"),
        ("Sato Yuki", "Yuki Sato", "same"),  # family name first
        ("Владимир Высоцкий", "Vladimir Vysotskiy", "same"),
        ("MaryAnn Smith", "Mary Ann Smith", "same"),
        ("Katherine Hollingsworth", "Katherina Hollingsworth", "alike"),
        ("Bill Hollingsworth", "William Hollingsworth", "alike"),
        ("Anna Hollingsworth", "Anna Maria Hollingsworth", "within"),
        ("Anna Hollingsworth", "Peter Jackson", "none"),
    ],
)
def test_names_are_compared_token_by_token(a: str, b: str, said: str) -> None:
    assert outcome(a, b) == said
    assert outcome(b, a) == said


def test_short_forms_can_be_switched_off() -> None:
    without = Policy.parse({"nicknames": False})

    assert outcome("Bill Hollingsworth", "William Hollingsworth", without) == "some"


def test_kanji_against_latin_letters_says_nothing_either_way() -> None:
    assert outcome("佐藤 由紀", "Yuki Sato") == "not compared"


def test_an_alias_may_be_the_name_of_the_other() -> None:
    evidence = compared(named("佐藤 由紀", "Yuki Sato"), named("Sato Yuki", source_id="2"))

    assert [part.outcome for part in evidence.parts if part.field == "name"] == ["same"]


def test_what_many_aliases_find_by_chance_counts_less() -> None:
    few = compared(named("Yuki Sato"), named("Yuki Sato", source_id="2"))
    many = compared(named("Yuki Sato", *(f"Someone Else{n}" for n in "abcdefg")), named("Yuki Sato", source_id="2"))

    assert many.bits == pytest.approx(few.bits - 3, abs=0.01)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Barack Obama", "バラク・オバマ"),
        ("VladimirPutin", "Vladimir Putin"),
        ("N. Nazarbayev", "Nursultan Nazarbayev"),
        ("bin Salman Mohammed", "Mohammed bin Salman"),
        ("Hannibal", "Hanniball"),
    ],
)
def test_one_name_written_in_two_ways_is_the_same_name(a: str, b: str) -> None:
    assert same_name(a, b) >= SAME_NAME
    assert same_name(a, b) == same_name(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Roger Federman", "Roger Federer"),
        ("高石早苗", "高市早苗"),
        ("Chang Su Ha", "Chang Chang Ha"),
        ("Michelle Obama", "Marie-Thérèse Obama"),
        ("", "Anybody"),
    ],
)
def test_names_that_merely_look_alike_are_different(a: str, b: str) -> None:
    assert same_name(a, b) < SAME_NAME
