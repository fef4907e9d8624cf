"""Random histories against a model of what must be where."""

from .driver import run  # noqa: F401
