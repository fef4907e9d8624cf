"""The registry of what may happen in a history."""

import dataclasses
import typing


@dataclasses.dataclass(frozen=True)
class Step:
    name: str
    weight: float
    #: Whether a history of a profile has it.
    fits: typing.Callable
    run: typing.Callable


STEPS = {}


def step(weight, fits=lambda profile: True):
    """Registers a function of world and random source as something that may happen."""

    def register(function):
        name = function.__name__.replace("_", "-")
        STEPS[name] = Step(name, weight, fits, function)
        return function

    return register
