"""Databases from Python by the DB-API, with the driver that the build has chosen."""

import kit

from measured import clients, reading, writing

kit.serve("Python", [*reading.TESTS, *writing.TESTS, *clients.TESTS])
