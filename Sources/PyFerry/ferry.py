"""Ferry's tracker for Python: events into a spool folder, from any thread, by libferrytracker.so.

    import ferry

    with ferry.Tracker("/var/spool/myapp", app_name="nightly export") as tracker:
        tracker.track("export finished", {"rows": 1200, "format": "csv"})

An event survives the death of the process when track() returns. `ferry run`, `ferry upload` or Tracker.start_sending() sends what is stored.
The library is looked for where FERRY_LIBRARY says, then beside this file, then where the system has its libraries. Python 3.8 or later.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import enum
import json
import logging
import os
import pathlib
import threading
import weakref
from collections.abc import Mapping
from typing import Any, Callable, NamedTuple, Optional

__all__ = [
    "Tracker", "Priority", "Dispatched", "Statistics", "LoggingHandler", "FerryError", "InvalidError", "LimitError", "DisabledError",
    "SpoolFullError", "FileError", "ForkedError", "version",
]


class FerryError(Exception):
    """Something was not done; the text says why."""


class InvalidError(FerryError, ValueError):
    """An argument: no name, no such option, no such timer."""


class LimitError(FerryError):
    """The event is beyond a limit whose policy is to drop."""


class DisabledError(FerryError):
    """The spool stores nothing."""


class SpoolFullError(FerryError):
    """The spool's size limit is reached, and everything stored is more urgent."""


class FileError(FerryError, OSError):
    """The disk or the folder."""


class ForkedError(FerryError):
    """The process is a fork of the one that opened the tracker: open a tracker in it. Or of one that has sent: let that one send."""


_ERRORS = {1: InvalidError, 2: LimitError, 3: DisabledError, 4: SpoolFullError, 5: FileError, 6: ForkedError}


class Priority(enum.IntEnum):
    """From 0 to 9; what is more urgent is smaller. Any int of this range will do."""

    CRITICAL = 0
    NORMAL = 5
    BULK = 9


class Dispatched(enum.Enum):
    """What came of a dispatch."""

    NO_DATA = 0
    SENT = 1
    #: Something was sent, and something is left.
    MORE = 2
    #: Something is there, and it could not be sent, or not to the end.
    NOT_SENT = 3


class Statistics(NamedTuple):
    """What a tracker has done so far."""

    stored: int
    failed: int
    truncated: int


_PROPERTIES = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
_WARNING = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)


class _Callbacks(ctypes.Structure):
    _fields_ = [("properties", _PROPERTIES), ("warning", _WARNING), ("context", ctypes.c_void_p)]


class _Statistics(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in Statistics._fields]


def _load() -> ctypes.CDLL:
    beside = pathlib.Path(__file__).resolve().parent / "libferrytracker.so"
    path = os.environ.get("FERRY_LIBRARY") or (str(beside) if beside.exists() else ctypes.util.find_library("ferrytracker"))
    if not path:
        raise ImportError("libferrytracker.so is not there: set FERRY_LIBRARY to its path")
    library = ctypes.CDLL(path)
    text, tracker, number = ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int
    for name, result, *arguments in [
        ("open_with", tracker, text, text, ctypes.POINTER(_Callbacks)),
        ("close", number, tracker),
        ("track", number, tracker, text, text, number),
        ("flush", number, tracker),
        ("set_interval", number, tracker, ctypes.c_double),
        ("interval", ctypes.c_double, tracker),
        ("start_sending", number, tracker, text),
        ("stop_sending", number, tracker),
        ("dispatch", number, tracker, ctypes.c_double, ctypes.POINTER(number)),
        ("foreground", None, tracker),
        ("background", None, tracker),
        ("start_session", None, tracker),
        ("session_id", text, tracker),
        ("login", number, tracker, text),
        ("user", text, tracker),
        ("anonymous_id", text, tracker),
        ("set_country", number, tracker, text),
        ("set_super_properties", number, tracker, text),
        ("remove_super_property", number, tracker, text),
        ("timer_start", number, tracker, text),
        ("timer_pause", number, tracker, text),
        ("timer_resume", number, tracker, text),
        ("timer_end", number, tracker, text, text, number),
        ("timer_remove", number, tracker, text),
        ("set_enabled", number, tracker, number),
        ("is_enabled", number, tracker),
        ("set_paused", number, tracker, number),
        ("is_paused", number, tracker),
        ("disable_and_delete", number, tracker),
        ("get_statistics", number, tracker, ctypes.POINTER(_Statistics)),
        ("error", text),
        ("version", text),
    ]:
        function = getattr(library, f"ferry_{name}")
        function.restype, function.argtypes = result, arguments
    return library


_library = _load()


def version() -> str:
    """The library's version, as in "0.1.0"."""
    return _library.ferry_version().decode()


def _reason() -> str:
    return _library.ferry_error().decode(errors="replace")


def _check(code: int) -> None:
    if code:
        raise _ERRORS.get(code, FerryError)(_reason())


def _text(value: Optional[str]) -> Optional[bytes]:
    """As C takes it: nothing may stand behind a zero byte."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise InvalidError(f"{value!r} is no text")
    if "\0" in value:
        raise InvalidError("a text holds a zero byte")
    try:
        return value.encode()
    except UnicodeEncodeError as problem:
        raise InvalidError(f"a text holds half of a surrogate pair: {problem}") from problem


def _level(priority: int) -> int:
    """As C takes it: more bits would be cut off."""
    if not isinstance(priority, int) or not 0 <= priority <= 9:
        raise InvalidError(f"the priority {priority} is not 0 to 9")
    return priority


def _json(value: Optional[Mapping[str, Any]]) -> Optional[bytes]:
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise InvalidError(f"properties have names and values, as in a dict: {value!r:.100}")
    try:
        return json.dumps(dict(value), allow_nan=False, default=_plain).encode()
    except (TypeError, ValueError, RecursionError) as problem:
        raise InvalidError(f"{problem}") from problem


def _plain(value: Any) -> Any:
    """What JSON has no form for: mappings of other kinds than dict; all else as text: moments, paths, UUIDs."""
    if isinstance(value, Mapping):
        return dict(value)
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


#: The options of ferry_open by their names here.
_OPTIONS = {
    "profile": "profile", "app_name": "appName", "app_version": "appVersion", "country": "country", "stream": "stream", "make_spool": "makeSpool",
    "durability": "durability", "batch_events": "batchEvents", "interval": "interval", "limits": "limits", "names": "names", "max_bytes": "maxBytes",
    "max_age": "maxAge", "sessions": "sessions", "session_timeout": "sessionTimeout", "lifecycle": "lifecycle",
    "starts_in_background": "startsInBackground", "crashes": "crashes", "termination": "termination",
}
#: The same for those of ferry_start_sending.
_SENDING = {
    "headers": "headers", "token_file": "tokenFile", "body": "body", "tracking_id": "trackingId", "parallel": "parallel", "order": "order",
    "timeout": "timeout", "ca": "ca", "cert": "cert", "key": "key", "keep_sent": "keepSent",
}


def _renamed(options: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    for name in options:
        if name not in names:
            raise InvalidError(f"'{name}' is no option; there are {', '.join(names)}")
    return {names[name]: str(value) if isinstance(value, os.PathLike) else value for name, value in options.items()}


class _Listener:
    """What the library calls. It knows no tracker, so that one that is forgotten is collected, and closed."""

    def __init__(
        self, properties: Optional[Callable[[], Optional[Mapping[str, Any]]]], on_warning: Optional[Callable[[str], None]]
    ) -> None:
        self._properties = properties
        self._on_warning = on_warning or logging.getLogger("ferry").warning
        self._thread = threading.local()
        # Kept, or they would be collected while the library calls them.
        self.callbacks = _Callbacks(_PROPERTIES(self._ask) if properties else _PROPERTIES(), _WARNING(self._warn), None)

    def _ask(self, _: Any) -> Optional[int]:
        """The properties of an event that is being tracked, which last until the thread's next one."""
        assert self._properties is not None
        try:
            text = _json(self._properties())
        except Exception as problem:  # No exception passes through C.
            self._on_warning(f"the properties of an event cannot be asked for: {problem!r}")
            return None
        if text is None:
            return None
        self._thread.properties = ctypes.create_string_buffer(text)
        return ctypes.addressof(self._thread.properties)

    def _warn(self, _: Any, line: bytes) -> None:
        try:
            self._on_warning(line.decode(errors="replace"))
        except Exception:
            logging.getLogger("ferry").exception("on_warning failed")


def _close(handle: int, listener: _Listener) -> int:
    """Closes a tracker. Until it is closed the library calls the listener: it is an argument so that it lasts so long."""
    return _library.ferry_close(handle)


class Tracker:
    """Records events into a spool, from any thread. A process that forks opens one in each child."""

    def __init__(
        self, spool: str | os.PathLike[str], *, properties: Optional[Callable[[], Optional[Mapping[str, Any]]]] = None,
        on_warning: Optional[Callable[[str], None]] = None, **options: Any,
    ) -> None:
        """Opens a spool, and makes it when there is none.

        properties: asked for properties of every event, on the thread that tracks.
        on_warning: called with a line that a person should know of; by default it is logged as a warning of the logger "ferry".
        options: app_name, profile, interval, max_bytes and so on, as ferry.h has them.
        """
        self._handle: Optional[int] = None
        listener = _Listener(properties, on_warning)
        handle = _library.ferry_open_with(
            _text(os.fspath(spool)), _json(_renamed(options, _OPTIONS)), ctypes.byref(listener.callbacks))
        if not handle:
            reason = _reason()
            raise (FileError if reason.startswith("cannot ") else InvalidError)(reason)
        self._handle = handle
        # A tracker that the program does not close is closed when it is collected, or at the end of the program: the library must not call what is gone.
        self._closing = weakref.finalize(self, _close, handle, listener)

    def __enter__(self) -> Tracker:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    @property
    def _tracker(self) -> int:
        if self._handle is None:
            raise InvalidError("the tracker was closed")
        return self._handle

    def close(self) -> None:
        """Ends the session and the sending, publishes everything and waits for it. Again: does nothing."""
        if self._handle is None:
            return
        self._handle = None
        _check(self._closing() or 0)

    def track(self, name: str, properties: Optional[Mapping[str, Any]] = None, priority: int = Priority.NORMAL) -> None:
        """Stores an event. When this returns, it survives the process."""
        _check(_library.ferry_track(self._tracker, _text(name), _json(properties), _level(priority)))

    def flush(self) -> None:
        """Publishes everything, waits for it, and asks the uploader of the spool to send it now."""
        _check(_library.ferry_flush(self._tracker))

    @property
    def interval(self) -> float:
        """The most seconds after its first event until a segment is published; 0 or less: only by a flush. Setting it flushes."""
        return _library.ferry_interval(self._tracker)

    @interval.setter
    def interval(self, seconds: float) -> None:
        _check(_library.ferry_set_interval(self._tracker, seconds))

    def start_sending(self, to: str, **options: Any) -> None:
        """Sends what is stored from this process, until stop_sending() or close(). Raises ForkedError in a fork of a process that has.

        to: an http or https URL. options: headers, token_file, body, parallel, order, timeout, ca, cert, key, keep_sent.
        """
        _check(_library.ferry_start_sending(self._tracker, _json({"to": to, **_renamed(options, _SENDING)})))

    def stop_sending(self) -> None:
        """Finishes what is under way, and waits for it."""
        _check(_library.ferry_stop_sending(self._tracker))

    def dispatch(self, seconds: float = 0) -> Dispatched:
        """Sends everything that was tracked, by the options of start_sending(), and waits for it; 0: without an end."""
        result = ctypes.c_int()
        _check(_library.ferry_dispatch(self._tracker, seconds, ctypes.byref(result)))
        return Dispatched(result.value)

    def foreground(self) -> None:
        """The program comes before a person."""
        _library.ferry_foreground(self._tracker)

    def background(self) -> None:
        """The program leaves the person: everything is published, and is to be sent."""
        _library.ferry_background(self._tracker)

    def start_session(self) -> None:
        """Begins a session; the events before it keep theirs."""
        _library.ferry_start_session(self._tracker)

    @property
    def session_id(self) -> Optional[str]:
        """The session that events belong to now; None when there is none."""
        return _decoded(_library.ferry_session_id(self._tracker))

    def login(self, user: str) -> None:
        """Events are this user's from now on."""
        _check(_library.ferry_login(self._tracker, _text(user)))

    def logout(self) -> None:
        """Events are of no user from now on."""
        _check(_library.ferry_login(self._tracker, None))

    @property
    def user(self) -> Optional[str]:
        return _decoded(_library.ferry_user(self._tracker))

    @property
    def anonymous_id(self) -> Optional[str]:
        """The random ID that the spool was given at its first start."""
        return _decoded(_library.ferry_anonymous_id(self._tracker))

    def set_country(self, country: Optional[str]) -> None:
        """Two letters (A-Z, stored in upper case) instead of the locale's country; None: none."""
        _check(_library.ferry_set_country(self._tracker, _text(country)))

    def set_super_properties(self, properties: Mapping[str, Any]) -> None:
        """Properties of every event from now on, besides those that are set already."""
        _check(_library.ferry_set_super_properties(self._tracker, _json(properties)))

    def remove_super_property(self, name: str) -> None:
        _check(_library.ferry_remove_super_property(self._tracker, _text(name)))

    def remove_super_properties(self) -> None:
        _check(_library.ferry_set_super_properties(self._tracker, None))

    def start_timer(self, name: str) -> None:
        """Begins to time an event; end_timer() tracks it."""
        _check(_library.ferry_timer_start(self._tracker, _text(name)))

    def pause_timer(self, name: str) -> None:
        _check(_library.ferry_timer_pause(self._tracker, _text(name)))

    def resume_timer(self, name: str) -> None:
        _check(_library.ferry_timer_resume(self._tracker, _text(name)))

    def end_timer(self, name: str, properties: Optional[Mapping[str, Any]] = None, priority: int = Priority.NORMAL) -> None:
        """Tracks an event of the timer's name, with its time as "$event_duration" in seconds."""
        _check(_library.ferry_timer_end(self._tracker, _text(name), _json(properties), _level(priority)))

    def remove_timer(self, name: Optional[str] = None) -> None:
        """Forgets a timer without an event; None: all of them."""
        _check(_library.ferry_timer_remove(self._tracker, _text(name)))

    @property
    def enabled(self) -> bool:
        """Whether events are stored: remembered in the spool."""
        return bool(_library.ferry_is_enabled(self._tracker))

    @enabled.setter
    def enabled(self, is_enabled: bool) -> None:
        _check(_library.ferry_set_enabled(self._tracker, bool(is_enabled)))

    @property
    def paused(self) -> bool:
        """Whether what is stored waits: remembered in the spool."""
        return bool(_library.ferry_is_paused(self._tracker))

    @paused.setter
    def paused(self, is_paused: bool) -> None:
        _check(_library.ferry_set_paused(self._tracker, bool(is_paused)))

    def disable_and_delete(self) -> None:
        """Stores nothing from now on, and deletes what waits in the spool; the ledger names each segment."""
        _check(_library.ferry_disable_and_delete(self._tracker))

    @property
    def statistics(self) -> Statistics:
        found = _Statistics()
        _check(_library.ferry_get_statistics(self._tracker, ctypes.byref(found)))
        return Statistics(found.stored, found.failed, found.truncated)


def _decoded(text: Optional[bytes]) -> Optional[str]:
    return None if text is None else text.decode()


class LoggingHandler(logging.Handler):
    """Tracks log records as events: the logger's name is the event's, errors and worse are critical.

        logging.getLogger().addHandler(ferry.LoggingHandler(tracker))
    """

    def __init__(self, tracker: Tracker, level: int = logging.NOTSET) -> None:
        super().__init__(level)
        self._tracker = tracker

    def emit(self, record: logging.LogRecord) -> None:
        # What the tracker itself warns of would come back to it.
        if record.name == "ferry":
            return
        try:
            properties = {"level": record.levelname, "message": record.getMessage(), "file": record.pathname, "line": record.lineno}
            if record.exc_info and record.exc_info[0]:
                properties["exception"] = logging.Formatter().formatException(record.exc_info)
            priority = Priority.CRITICAL if record.levelno >= logging.ERROR else Priority.NORMAL
            self._tracker.track(record.name, properties, priority)
        except Exception:
            self.handleError(record)
