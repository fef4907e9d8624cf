"""What a seed means: the kind of world, and the steps of its history. It depends on nothing else, so that a seed can be repeated."""

import dataclasses
import os
import random
import typing

from . import carry, deliver, disturb, files, produce  # noqa: F401: they register their steps
from .steps import STEPS


@dataclasses.dataclass
class Profile:
    """What kind of history it is. Some things exclude each other, because together no tool could keep its promise: a segment that one
    way is split and another way is not has several keys."""

    #: Segments may be split: by a limit on requests, or by a link that breaks within a body.
    may_split: bool
    #: The most bytes of a request, beyond which the link answers 413; None: no limit.
    largest: typing.Optional[int]
    #: Segments are copied and moved between spools, and bundles come in whose segments are due again.
    has_copies: bool
    has_sticks: bool
    has_limits: bool
    has_foreign: bool
    has_damage: bool
    has_relay: bool
    has_runs: bool
    #: The size of the disk that the sources lie on; None: the disk of the harness.
    disk: typing.Optional[str]
    #: The user who runs Ferry; None: the one who runs the harness.
    user: typing.Optional[int]
    #: So many first steps are done by the older Ferry.
    old_steps: int


def profile_of(seed, tools):
    rng = random.Random(f"profile {seed}")
    may_split = rng.random() < 0.5
    is_root = os.geteuid() == 0
    has_disk = rng.random() < 0.35
    has_user = rng.random() < 0.2
    old_steps = rng.randrange(3, 15) if rng.random() < 0.2 else 0
    return Profile(
        largest=rng.choice([None, 400, 1200, 5000]) if may_split else None,
        may_split=may_split,
        has_copies=not may_split and rng.random() < 0.5,
        has_sticks=rng.random() < 0.5,
        has_limits=rng.random() < 0.25,
        has_foreign=rng.random() < 0.5,
        has_damage=rng.random() < 0.3,
        has_relay=rng.random() < 0.25,
        has_runs=rng.random() < 0.6,
        disk="24m" if has_disk and is_root and tools.can_mount else None,
        user=54321 if has_user and is_root else None,
        old_steps=old_steps if tools.old else 0,
    )


def steps_of(seed, profile):
    """Returns the names of the steps, in order."""
    rng = random.Random(f"steps {seed}")
    known = [step for step in STEPS.values() if step.fits(profile)]
    count = rng.randrange(30, 81)
    return [step.name for step in rng.choices(known, [step.weight for step in known], k=count)]
