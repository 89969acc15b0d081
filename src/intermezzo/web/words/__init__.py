"""What people read on our pages, in their language and their time: state words, sentences, figures, moments.

Everything is written and stored in English; this package translates for display only. It never decides anything, and
nothing that a program reads (codes, API fields) goes through it.
"""

from intermezzo.web.words.states import STATE_SHAPES, STATE_WORDS

__all__ = ["STATE_SHAPES", "STATE_WORDS"]
