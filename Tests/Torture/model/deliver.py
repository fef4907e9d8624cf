"""Steps that send: uploaders in the foreground and beside each other, `ferry run`, relays, and what the link does meanwhile."""

import signal
import time

from .link import Link
from .steps import step

#: What an upload may end with; 77 only where the link answers what a person must mend.
UPLOAD_ENDS = (0, 65, 73, 74, 75)


def upload_arguments(world, rng, source):
    arguments = ["upload", "--spool", source, "--to", world.url, "--quiet", "--timeout", "5s"]
    if rng.random() < 0.5:
        arguments.append("--retry-now")
    if rng.random() < 0.3:
        arguments += ["--order", "strict"]
    if rng.random() < 0.3:
        size = rng.choice(["off", "2KiB", "1MiB"])
        # An older Ferry joins nothing by itself, and knows no other word for it.
        if size != "off" or world.is_newest:
            arguments += ["--coalesce", size]
    if rng.random() < 0.3:
        arguments += ["--parallel", rng.choice(["1", "8"])]
    if rng.random() < 0.2:
        arguments += ["--verify", rng.choice(["always", "never"])]
    if rng.random() < 0.1:
        arguments += ["--time-limit", rng.choice(["300ms", "2s"])]
    if rng.random() < 0.1:
        arguments += ["--limit", "2"]
    return arguments + world.no_splitting


@step(10)
def upload(world, rng):
    source = rng.choice(world.sources)
    kill = rng.uniform(0, 0.4) if rng.random() < 0.3 else None
    stop = rng.uniform(0, 0.4) if kill is None and rng.random() < 0.1 else None
    was_quiet = world.is_quiet(source)
    ends = UPLOAD_ENDS + ((130,) if stop is not None else ())
    arguments = upload_arguments(world, rng, source)
    result = world.ferry(*arguments, kill_after=kill, stop_after=stop, allowed=ends)
    if result.status == 0 and was_quiet and "--limit" not in arguments:
        left = world.due_names(source)
        if left:
            world.violate(f"upload of {source.name} ended with 0, but {sorted(left)[:3]} is due")


@step(4)
def upload_beside(world, rng):
    """An uploader that runs while the next steps happen."""
    if len(world.background) >= 3:
        return reap(world, rng)
    source = rng.choice(world.sources)
    process = world.start([world.ferry_path, *upload_arguments(world, rng, source)], name="beside")
    world.background.append((source, process, rng.random() < 0.3))


@step(3)
def reap(world, rng):
    """Waits for an uploader beside, or kills it."""
    if not world.background:
        return
    source, process, kills = world.background.pop(rng.randrange(len(world.background)))
    if kills and process.poll() is None:
        process.send_signal(signal.SIGKILL)
    result = world.end(process, f"ferry upload beside of {source.name}", signal.SIGKILL if kills else None)
    if not result.was_killed and result.status not in UPLOAD_ENDS:
        world.violate(f"an upload beside ended with {result.status}: {result.errors[-300:]}")


@step(3, lambda profile: profile.has_runs)
def begin_run(world, rng):
    source = rng.choice(world.sources)
    if source in world.run_process:
        return end_run(world, rng)
    settings = ["back-off.intervals=200ms,1s", "timeout=5s", f"interval={rng.choice(['1s', '60s'])}"]
    if rng.random() < 0.3:
        setting = rng.choice(["coalesce=off", "coalesce=64KiB"])
        if setting != "coalesce=off" or world.is_newest:
            settings.append(setting)
    if rng.random() < 0.3:
        settings.append("order=strict")
    arguments = [word for setting in settings + world.no_splitting_settings for word in ("--set", setting)]
    world.run_process[source] = world.start(
        [world.ferry_path, "run", "--spool", source, "--to", world.url, *arguments], name="run")
    time.sleep(rng.uniform(0, 0.5))


@step(2, lambda profile: profile.has_runs)
def end_run(world, rng):
    """Ends a `ferry run` by a signal, in time, or kills it."""
    if not world.run_process:
        return
    source = rng.choice(sorted(world.run_process))
    process = world.run_process.pop(source)
    kills = rng.random() < 0.4
    stop_run(world, source, process, kills)


def stop_run(world, source, process, kills=False):
    number = signal.SIGKILL if kills else signal.SIGTERM
    if process.poll() is None:
        process.send_signal(number)
    result = world.end(process, f"ferry run of {source.name}", number, patience=30)
    if not result.was_killed and result.status != 0:
        world.violate(f"ferry run ended with {result.status} after SIGTERM: {result.errors[-300:]}")


@step(2, lambda profile: profile.has_runs)
def signal_run(world, rng):
    """SIGHUP reads the configuration again, SIGUSR1 sends everything now."""
    running = [process for process in world.run_process.values() if process.poll() is None]
    if running:
        process = rng.choice(running)
        # Before its handlers are there, either signal ends a program.
        if any("pending" in line for line in open(f"{process.log}.err", errors="replace")):
            process.send_signal(rng.choice([signal.SIGHUP, signal.SIGUSR1]))


@step(8)
def change_link(world, rng):
    """The link gets better or worse."""
    link = world.link
    if rng.random() < 0.15:
        return link.turn_off()
    link.turn_on()
    faults = [fault for fault in Link.FAULTS if world.profile.may_split or fault != "cut"]
    link.faults = rng.sample(faults, rng.randrange(1, 4))
    link.share = rng.choice([0, 0, 0.3, 0.6, 1])
    link.is_poisoned = rng.random() < 0.15


@step(4)
def restart_hub(world, rng):
    """The hub's receiver goes away, orderly or not, and comes back."""
    if rng.random() < 0.6:
        world.hub.kill()
    else:
        world.hub.stop()
    if rng.random() < 0.7:
        world.hub.start()


@step(3)
def start_hub(world, rng):
    world.hub.start()


@step(3, lambda profile: profile.has_relay)
def relay(world, rng):
    """The hub sends on to the second one."""
    kill = rng.uniform(0, 0.3) if rng.random() < 0.3 else None
    world.ferry(
        "upload", "--spool", world.hub_folder, "--to", world.relay_url, "--quiet", "--retry-now", kill_after=kill,
        allowed=UPLOAD_ENDS)


@step(2)
def wait(world, rng):
    time.sleep(rng.choice([0.05, 0.3, 1]))
