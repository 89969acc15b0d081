"""What every report's page is made with: one HTML page that needs nothing else, light and dark, printable.

Every text in it is escaped: names and outputs come from users.
"""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from intermezzo.reports import figures


@cache
def sheets() -> Environment:
    """The templates, with figures as people read them."""
    environment = Environment(
        loader=PackageLoader("intermezzo.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "seconds": figures.seconds,
        "size": figures.size,
        "clock": figures.clock,
        "day": figures.day,
        "compute": figures.compute,
        "times": figures.times,
    }
    return environment
