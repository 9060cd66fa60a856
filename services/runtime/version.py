"""The version of this code: container images have it without the installed package."""

from typing import Final

VERSION: Final = "0.1.0"
