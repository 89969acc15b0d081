"""How a checkpoint is called in a sentence, whatever its program called it."""

import pytest

from intermezzo.domain.home_record import SavedCheckpoint, newest_first


def checkpoint(label: str, saved_at: int = 1_796_000_000_000, series: str = "main") -> SavedCheckpoint:
    return SavedCheckpoint(series, f"checkpoints/{series}/00000001", saved_at, 1, label)


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("epoch 14", "epoch 14, 2026-11-30 00:53 UTC"),
        ("", "main, 2026-11-30 00:53 UTC"),
        ("step 3: it works; at last.", "step 3 it works at last, 2026-11-30 00:53 UTC"),
        ("lr 0.1\nbatch 8", "lr 0.1 batch 8, 2026-11-30 00:53 UTC"),
    ],
)
def test_nothing_in_a_label_ends_the_sentence_that_it_is_in(label: str, words: str) -> None:
    assert checkpoint(label).words == words


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("project/checkpoints/main/00000014", "~/project/checkpoints"),
        ("checkpoints/main/1", "~/checkpoints"),
        ("main/1", "~"),
    ],
)
def test_what_to_type_to_have_it_again(path: str, folder: str) -> None:
    saved = SavedCheckpoint('m"ain', path, 0, 1)
    assert saved.loaded_by == f'checkpoint.load("m\\"ain", folder="{folder}")'


@pytest.mark.parametrize("saved_at", [-1, 2**63])
def test_a_time_that_no_clock_shows_is_no_failure(saved_at: int) -> None:
    assert checkpoint("x", saved_at).words.startswith("x, ")


def test_the_newest_is_first_whatever_their_order() -> None:
    old, new = checkpoint("old", 1), checkpoint("new", 2)
    assert newest_first([old, new]) == newest_first([new, old]) == (new, old)
