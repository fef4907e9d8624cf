"""Every call of ferry.py once: track.py SPOOL URL"""

import collections
import datetime
import gc
import logging
import os
import pathlib
import sys
import types
import uuid

import ferry

spool, url = sys.argv[1:]


def refused(error, body):
    try:
        body()
    except error as problem:
        print(f"{error.__name__}: {problem}")
    else:
        sys.exit(f"no {error.__name__}")


refused(ferry.InvalidError, lambda: ferry.Tracker(spool, batch_event=1))
refused(ferry.InvalidError, lambda: ferry.Tracker(spool, limits="some"))
refused(ferry.FileError, lambda: ferry.Tracker("/proc/none/such"))

warnings = []
options = {"app_name": "nightly export", "durability": "disk", "lifecycle": False, "profile": "google-analytics", "interval": 0}
with ferry.Tracker(pathlib.Path(spool), properties=lambda: {"host": "py"}, on_warning=warnings.append, **options) as tracker:
    tracker.track("export finished", {"rows": 1200, "format": "csv", "took": 3.5, "partial": False, "tags": ["a", "ü"]})
    tracker.track("disk failed", {"device": pathlib.Path("/dev/sdb1"), "at": datetime.date(2026, 11, 22)}, ferry.Priority.CRITICAL)
    refused(ferry.InvalidError, lambda: tracker.track(""))
    refused(ferry.InvalidError, lambda: tracker.track("a\0b"))
    refused(ferry.InvalidError, lambda: tracker.track("a", {}, 2**40))
    refused(ferry.InvalidError, lambda: tracker.track("x", priority=10))
    refused(ferry.InvalidError, lambda: tracker.track("x", priority="high"))
    refused(ferry.InvalidError, lambda: tracker.track(5))
    refused(ferry.InvalidError, lambda: tracker.track("x", ["no", "mapping"]))
    refused(ferry.InvalidError, lambda: tracker.track("x", {("a", "b"): 1}))
    assert uuid.UUID(tracker.session_id) and uuid.UUID(tracker.anonymous_id) and tracker.user is None
    before = tracker.session_id
    tracker.start_session()
    assert tracker.session_id != before
    tracker.login("ada")
    assert tracker.user == "ada"
    tracker.logout()
    tracker.set_country("PT")
    tracker.set_country(None)
    refused(ferry.InvalidError, lambda: tracker.set_country("DEU"))
    tracker.set_super_properties(collections.UserDict({"plan": types.MappingProxyType({"name": "free"}), "site": 7}))
    tracker.remove_super_property("site")
    tracker.start_timer("job")
    tracker.pause_timer("job")
    tracker.resume_timer("job")
    tracker.background()
    tracker.foreground()
    tracker.end_timer("job", {"n": 1}, ferry.Priority.BULK)
    refused(ferry.InvalidError, lambda: tracker.end_timer("job"))
    tracker.start_timer("other")
    tracker.remove_timer("other")
    tracker.remove_timer()
    tracker.remove_super_properties()
    tracker.interval = -1
    assert tracker.interval == -1
    refused(ferry.InvalidError, lambda: setattr(tracker, "interval", float("nan")))
    assert tracker.interval == -1
    log = logging.getLogger("app")
    log.addHandler(ferry.LoggingHandler(tracker))
    log.error("it failed: %s", "no such thing")
    tracker.flush()
    refused(ferry.InvalidError, tracker.dispatch)
    refused(ferry.InvalidError, lambda: tracker.start_sending(url, body="xml"))
    tracker.start_sending(url, headers={"X-Site": "py"}, timeout=20, keep_sent=True)
    assert tracker.dispatch(50) is ferry.Dispatched.SENT
    assert tracker.dispatch() is ferry.Dispatched.NO_DATA
    tracker.stop_sending()
    tracker.paused = True
    assert tracker.paused
    tracker.paused = False
    tracker.track("deleted")
    tracker.disable_and_delete()
    refused(ferry.DisabledError, lambda: tracker.track("refused"))
    tracker.enabled = True
    assert tracker.enabled and tracker.statistics == ferry.Statistics(stored=6, failed=2, truncated=0), tracker.statistics
assert not warnings, warnings
refused(ferry.InvalidError, lambda: tracker.track("closed"))
for text in ["\ud800", "a\0b"]:
    refused(ferry.InvalidError, lambda: ferry.Tracker(text))


def forgotten() -> None:
    """Opens a tracker, and closes none."""
    lost = ferry.Tracker(spool, on_warning=warnings.append)
    lost.enabled = True
    refused(ferry.InvalidError, lambda: lost.track("e", {"n": float("nan")}))
    lost.track("forgotten")


forgotten()
gc.collect()
# The library would call what is gone; and its journal would be there.
assert not list(pathlib.Path(spool).glob("*.open")), os.listdir(spool)
ferry.Tracker(spool).track("closed at the end of the program")
print(ferry.version())
