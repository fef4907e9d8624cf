"""One command with something to do, disturbed, and what has to be true afterwards."""


class Scenario:
    name = ""
    # How old, in seconds, the prepared folder must be: files with foreign names rest for 5 s.
    age = 0.0

    def can_run(self, options):
        return True

    def prepare(self, place):
        """Fills the folder that every case gets a copy of."""

    def play(self, place, environment, fault):
        """Runs the disturbed command with this environment, then whatever finishes the job undisturbed, and looks. Problems are noted in
        the place. `fault` is its kind, None when nothing is disturbed."""
        raise NotImplementedError

    def disturb(self, place, environment, fault, *arguments, data=None):
        result = place.run(*arguments, environment=environment, data=data)
        place.judge_end(result, may_be_killed=bool(fault) and fault.startswith("kill"))
        return result


def tears(fault):
    """Whether a fault ends the program or its disk amid a line: then the line may stay torn."""
    return bool(fault) and (fault.startswith("kill") or fault == "dead")
