"""Prints the versions of Ray and of Python."""

import platform
from importlib.metadata import version

print(f"Ray {version('ray')}, Python {platform.python_version()}")
