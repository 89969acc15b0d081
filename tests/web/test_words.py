"""In which language and time a page is shown: the person's choice, else the browser's wish, else English and UTC."""

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markupsafe import Markup
from starlette.requests import Request

from intermezzo.domain.workspace import Phase
from intermezzo.web.words import STATE_WORDS, figures
from intermezzo.web.words.catalog import LANGUAGES
from intermezzo.web.words.locale import Locale, locale_of
from web.simulated import SITE

EVENING = 1_793_206_800_123  # 2026-10-28 17:00:00.123 UTC


def asking(accept: str = "", cookie: str = "") -> Locale:
    headers = [(b"accept-language", accept.encode()), (b"cookie", cookie.encode())]
    return locale_of(Request({"type": "http", "headers": headers}))


@pytest.mark.parametrize(
    ("accept", "language"),
    [
        ("", "en"),
        ("pl", "pl"),
        ("pl-PL,pl;q=0.9,en;q=0.8", "pl"),
        ("ja-JP", "ja"),
        ("de,ja;q=0.2,pl;q=0.7", "pl"),
        ("de", "en"),
        ("pl;q=0,ja;q=0.1", "ja"),
        ("pl;q=lots,en", "en"),
        ("*", "en"),
        (",;,;q=", "en"),
    ],
)
def test_the_browsers_wish_is_heard(accept: str, language: str) -> None:
    assert asking(accept).language == language


def test_the_persons_choice_goes_before_the_browsers_wish() -> None:
    assert asking("pl", "intermezzo_language=ja").language == "ja"


@pytest.mark.parametrize("cookie", ["de", "", "../ja", "JA"])
def test_a_choice_that_there_is_not_is_ignored(cookie: str) -> None:
    assert asking("pl", f"intermezzo_language={cookie}").language == "pl"


def test_the_browsers_time_zone_is_taken() -> None:
    assert asking(cookie="intermezzo_timezone=Europe%2FWarsaw").timezone.key == "Europe/Warsaw"


@pytest.mark.parametrize("zone", ["", "Mars/Olympus", "..%2F..%2Fetc%2Fpasswd", "%00", "Europe"])
def test_a_time_zone_that_there_is_not_is_utc(zone: str) -> None:
    assert asking(cookie=f"intermezzo_timezone={zone}").timezone.key == "UTC"


@settings(deadline=None)
@given(accept=st.text(st.characters(codec="latin-1"), max_size=60))
def test_no_header_breaks_a_page(accept: str) -> None:
    headers = [(b"accept-language", accept.encode("latin-1"))]
    assert locale_of(Request({"type": "http", "headers": headers})).language in LANGUAGES


def test_every_state_has_its_fixed_word_in_every_language() -> None:
    words = {language: {phase: Locale(language).state_word(phase) for phase in Phase} for language in LANGUAGES}
    deleting = Phase.DELETING
    assert words["en"] == STATE_WORDS
    assert list(words["ja"].values()) == [
        "容量待ち",
        "起動中",
        "利用可能",
        "一時停止しています",
        "停止中",
        "再開しています",
        "対応が必要",
        words["ja"][deleting],
    ]
    assert list(words["pl"].values()) == [
        "czeka na zasoby",
        "uruchamianie",
        "gotowy",
        "wstrzymywanie",
        "wstrzymany",
        "wznawianie",
        "wymaga reakcji",
        words["pl"][deleting],
    ]
    assert len({words[language][deleting] for language in LANGUAGES}) == len(LANGUAGES)


def test_a_moment_is_local_with_its_zone_and_carries_exact_utc() -> None:
    locale = asking(cookie="intermezzo_timezone=Asia%2FTokyo")
    assert figures.moment(locale, EVENING) == (
        '<time datetime="2026-10-28T17:00:00Z" title="2026-10-28 17:00:00 UTC">29 Oct 2026, 02:00 JST</time>'
    )
    assert "28 paź 2026, 17:00 UTC" in figures.moment(Locale("pl"), EVENING)
    assert "2026年10月28日 17:00 UTC" in figures.moment(Locale("ja"), EVENING)


def test_a_japanese_text_has_no_blank_between_japanese_words() -> None:
    amount = "1 nvidia.com/gpu（仮想）"
    assert Locale("ja").gettext("{amount} comes free.", amount=amount) == "1 nvidia.com/gpu（仮想）が返却されます。"
    assert Locale("ja").gettext("{amount} comes free.", amount=Markup("<b>2 CPU</b>")) == Markup(
        "<b>2 CPU</b> が返却されます。"
    )


def test_what_never_was_is_said_so() -> None:
    assert [figures.moment(Locale(language), 0) for language in LANGUAGES] == ["never", "なし", "nigdy"]


@pytest.mark.parametrize(
    ("milliseconds", "english", "polish"),
    [
        (0, "0.0 s", "0,0 s"),
        (400, "0.4 s", "0,4 s"),
        (59_999, "59.9 s", "59,9 s"),
        (60_000, "1 min 0 s", "1 min 0 s"),
        (45_600_000, "12 h 40 min", "12 godz. 40 min"),
        (176_400_000, "2 d 1 h", "2 d 1 godz."),
    ],
)
def test_a_duration_is_human(milliseconds: int, english: str, polish: str) -> None:
    assert figures.duration(Locale(), milliseconds) == english
    assert figures.duration(Locale("pl"), milliseconds) == polish


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (1023, "1,023 B"), (1024, "1.0 KiB"), (6_549_825_126, "6.1 GiB"), (2**60, "1,024.0 PiB")],
)
def test_bytes_have_binary_units(count: int, text: str) -> None:
    assert figures.size(Locale(), count) == text


def test_a_text_with_an_element_in_it_is_escaped_around_it() -> None:
    text = Locale().gettext("<b> since {when}", when=Markup("<time>now</time>"))
    assert text == Markup("&lt;b&gt; since <time>now</time>")


async def test_the_switch_remembers_the_language_and_goes_back(browser: httpx.AsyncClient) -> None:
    answer = await browser.post("/language", data={"language": "pl", "next": "/new?kind=script"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/new?kind=script")
    assert browser.cookies["intermezzo_language"] == "pl"


async def test_the_switch_takes_json_too(browser: httpx.AsyncClient) -> None:
    answer = await browser.post("/language", json={"language": "ja"})
    assert (answer.status_code, browser.cookies["intermezzo_language"]) == (303, "ja")


@pytest.mark.parametrize("body", [b"", b"{}", b"language=de", b"\xff", b'{"language": 1}', b"language=pl%0d%0aX"])
@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "application/json", ""])
async def test_what_is_no_language_is_refused(browser: httpx.AsyncClient, body: bytes, kind: str) -> None:
    answer = await browser.post("/language", content=body, headers={"content-type": kind})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_input")
    assert "set-cookie" not in answer.headers


async def test_the_switch_leads_to_no_other_site(browser: httpx.AsyncClient) -> None:
    answer = await browser.post("/language", data={"language": "pl", "next": "//elsewhere.example"})
    assert answer.headers["location"] in {"/", f"{SITE}/"}
