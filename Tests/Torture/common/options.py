"""What every part of the harness is told, and what it gives back."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Options:
    ferry: str
    # The binary of the commit before, for histories with an upgrade.
    ferry_old: str | None
    tracker_host: str | None
    # How long a part may take.
    seconds: float
    seed: int
    # One case alone, as a failure was printed.
    case: str | None
    # Where failed cases leave their folders; None: nowhere.
    keep: str | None
    # Cases at once.
    jobs: int = 2


@dataclass
class Outcome:
    # What was done, in the order in which it is printed: {"runs": 120, "states": 3000}.
    counts: dict[str, int] = field(default_factory=dict)
    # Each one as it was printed when it happened, with the command that repeats it.
    failures: list[str] = field(default_factory=list)
