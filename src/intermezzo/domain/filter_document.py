"""Reads the `filterRules` of a `WorkspaceKind` document. Everything wrong is told by its path, as in `fields`."""

from intermezzo.domain.activity_document import read_selector
from intermezzo.domain.activity_rules import Selector
from intermezzo.domain.fields import Fields, one_of
from intermezzo.domain.filter_rules import NOT_ALLOWED, Effect, FilterRule, Scope, Subject

_SCOPE = one_of(Scope)


def read_filters(spec: Fields) -> tuple[FilterRule, ...]:
    """The rules that the `spec` of a kind has."""
    return tuple(_rule(rule) for rule in spec.each("filterRules"))


def _rule(rule: Fields) -> FilterRule:
    scope = rule.text("scope", like=_SCOPE)
    conditions = tuple(_condition(each) for each in rule.each("match", at_least=1))
    return FilterRule(Scope(scope or Scope.KIND), _effect(rule.part("effect")), conditions)


def _condition(condition: Fields) -> tuple[Subject, Selector]:
    found = [subject for subject in Subject if condition.has(subject)]
    if len(found) != 1:
        condition.problem("", f"must have one of {', '.join(Subject)}")
    subject = found[0] if found else Subject.NAMESPACE
    return subject, read_selector(condition, subject)


def _effect(effect: Fields) -> Effect:
    if not effect.has("ui") and not effect.has("api"):
        effect.problem("", "must have ui or api")
    page, api = effect.maybe("ui"), effect.maybe("api")
    denies = api.flag("deny")
    if api.has("denyMessage") and not denies:
        api.problem("denyMessage", "is only for what is denied")
    message = api.part("denyMessage").text("text", longest=1024) if api.has("denyMessage") else NOT_ALLOWED
    return Effect(page.flag("hide"), api.flag("hide"), message if denies else "")
