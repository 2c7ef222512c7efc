"""What is MariaDB's own, whichever driver speaks to it."""

from measured import server
from measured.server import FIRST, lengthen_log, rows, settle  # noqa: F401
from measured.told import told

COLUMNS = "id INTEGER PRIMARY KEY AUTO_INCREMENT, value INTEGER"
NO_RESULT = "DO 1"


def address():
    """TLS is off by words of each driver's own."""
    return {**server.address(), "database": told("NAME")}
