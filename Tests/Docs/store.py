"""An object store for a page: moto's, with a bucket.

store.py ADDRESS PORT BUCKET
"""
import sys
import time
import urllib.error
import urllib.request

from moto.server import ThreadedMotoServer

address, port, bucket = sys.argv[1:]
ThreadedMotoServer(ip_address=address, port=int(port), verbose=False).start()
urllib.request.urlopen(urllib.request.Request(f"http://{address}:{port}/{bucket}", method="PUT"))
print("ready", flush=True)
time.sleep(3600)
