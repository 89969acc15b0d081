"""A kind as it is offered in one namespace: what its filter rules hide or deny there. Pure."""

from collections.abc import Mapping
from dataclasses import replace

from intermezzo.domain.activity_rules import Labels
from intermezzo.domain.errors import Refused
from intermezzo.domain.filter_rules import Effect, Scope, Subject, effect
from intermezzo.domain.kind import Choice, Kind, Options, OptionType


def offered(kind: Kind, namespace: Labels, image_id: str = "", pod_id: str = "") -> Kind:
    """The same kind with the effects that hold there. What is chosen already counts for the conditions on it; what is
    unknown counts for none."""
    if not kind.filters:
        return kind
    image, pod = _chosen(kind.images, image_id), _chosen(kind.pods, pod_id)
    here = {Subject.NAMESPACE: namespace}
    with_image = {Subject.IMAGE: image.labels} if image else {}
    with_pod = {Subject.POD: pod.labels} if pod else {}
    own = effect(kind.filters, Scope.KIND, {**here, **with_image, **with_pod})
    return replace(
        kind,
        effect=own,
        hidden=kind.hidden or own.hides,
        images=_offered(kind, kind.images, Scope.IMAGE, Subject.IMAGE, {**here, **with_pod}),
        pods=_offered(kind, kind.pods, Scope.POD, Subject.POD, {**here, **with_image}),
    )


def require_allowed(kind: Kind, choice: Choice) -> None:
    """Raises `Refused`, with the administrator's message, for a choice in an offered kind that is denied there."""
    hint = "Choose another one, or ask an administrator."
    if kind.denied:
        raise Refused(f"the kind {kind.name} cannot be used here: {kind.denied}", hint)
    if choice.image.denied:
        raise Refused(f"the image {choice.image.id} cannot be used here: {choice.image.denied}", hint)
    if choice.pod.denied:
        raise Refused(f"the size {choice.pod.id} cannot be used here: {choice.pod.denied}", hint)


def _chosen(options: Options[OptionType], option_id: str) -> OptionType | None:
    return next((option for option in options.values if option.id == option_id), None)


def _offered(
    kind: Kind, options: Options[OptionType], scope: Scope, own: Subject, labels: Mapping[Subject, Labels]
) -> Options[OptionType]:
    values = tuple(
        _seen(option, effect(kind.filters, scope, {**labels, own: option.labels})) for option in options.values
    )
    return replace(options, values=values)


def _seen(option: OptionType, found: Effect) -> OptionType:
    return replace(option, effect=found, hidden=option.hidden or found.hides or found.withholds)
