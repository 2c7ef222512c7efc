"""What the laboratory tells of the database."""

import os

import kit


def told(name):
    """The value of an environment variable of the laboratory's."""
    value = os.environ.get(f"ANTIPHON_SQL_{name}")
    if not value:
        raise kit.Failed(
            f"ANTIPHON_SQL_{name} is not set: start the program by the laboratory, or name a database (docs/reference/subjects.md)"
        )
    return value
