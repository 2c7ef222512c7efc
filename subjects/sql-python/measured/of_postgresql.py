"""What is PostgreSQL's own, whichever driver speaks to it."""

from measured import server
from measured.server import FIRST, lengthen_log, rows, settle  # noqa: F401
from measured.told import told

COLUMNS = "id SERIAL PRIMARY KEY, value INTEGER"
NO_RESULT = "SET statement_timeout TO 0"


def address():
    """Without TLS, which libpq would ask for."""
    return {**server.address(), "dbname": told("NAME"), "sslmode": "disable"}
