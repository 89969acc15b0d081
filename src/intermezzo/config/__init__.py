"""The settings of one installation: what they are called, what they default to, and where each value came from.

`settings` has them all, by the sections beside it; `loading` reads them.
"""
