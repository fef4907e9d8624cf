"""Python's multiprocessing with fork: workers.py libferrytracker.so SPOOL"""
import ctypes, json, multiprocessing, signal, sys

# Programs that start others may leave signals blocked in them; the pool ends its workers by one.
signal.pthread_sigmask(signal.SIG_SETMASK, [])
# A worker that waits for a lock of the parent's waits for ever.
signal.alarm(60)

ferry = ctypes.CDLL(sys.argv[1])
ferry.ferry_open.restype = ctypes.c_void_p
options = json.dumps({"appName": "workers", "lifecycle": False}).encode()

def track(tracker, name, count):
    return [ferry.ferry_track(tracker, name, json.dumps({"n": n}).encode(), 5) for n in range(count)]

def work(worker):
    signal.alarm(60)
    inherited = ferry.ferry_track(parent, b"inherited", None, 5)
    own = ctypes.c_void_p(ferry.ferry_open(sys.argv[2].encode(), options))
    codes = track(own, b"worker %d" % worker, 50)
    return inherited, max(codes), ferry.ferry_close(own)

parent = ctypes.c_void_p(ferry.ferry_open(sys.argv[2].encode(), options))
track(parent, b"parent", 50)
with multiprocessing.get_context("fork").Pool(3) as pool:
    print(set(pool.map(work, range(6), chunksize=1)))
track(parent, b"parent", 50)
print(ferry.ferry_close(parent))
