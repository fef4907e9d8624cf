import ctypes, json, sys

ferry = ctypes.CDLL(sys.argv[1])  # libferrytracker.so
ferry.ferry_open.restype = ctypes.c_void_p
ferry.ferry_error.restype = ctypes.c_char_p

def check(code):
    if code != 0:
        raise RuntimeError(ferry.ferry_error().decode())

def track(tracker, name, priority=5, **properties):
    check(ferry.ferry_track(tracker, name.encode(), json.dumps(properties).encode(), priority))

options = {"appName": "nightly export", "durability": "disk", "lifecycle": False}
tracker = ctypes.c_void_p(ferry.ferry_open(sys.argv[2].encode(), json.dumps(options).encode()))
if not tracker:
    sys.exit(ferry.ferry_error().decode())
track(tracker, "export finished", rows=1200, format="csv", took=3.5, partial=False, tags=["a", "ü"])
track(tracker, "disk failed", priority=0, device="/dev/sdb1")
check(ferry.ferry_close(tracker))
