"""What the public API says about namespaces."""

from intermezzo.client.shape import Shape


class NamespaceShape(Shape):
    """A namespace and the labels that an administrator gave it."""

    namespace: str
    labels: dict[str, str]
