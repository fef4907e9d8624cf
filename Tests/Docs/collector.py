"""A stand-in for what a page sends to: OTLP's receiver of logs, and Elasticsearch's bulk API.

collector.py ADDRESS PORT

Of each request to …/v1/logs it drops a record; of one to …/_bulk it refuses the events whose value is a text.
"""
import gzip
import http.server
import json
import sys

REFUSED = {"type": "document_parsing_exception", "reason": "[1:29] failed to parse field [value] of type [long]"}


class Collector(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.answer({})

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        if "/_bulk" not in self.path:
            self.answer({"partialSuccess": {"rejectedLogRecords": "1", "errorMessage": "one is too old"}})
            return
        events = [json.loads(line) for line in body.splitlines()[1::2]]
        bad = [isinstance(each.get("value"), str) for each in events]
        items = [{"create": {"status": 400, "error": REFUSED} if each else {"status": 201}} for each in bad]
        self.answer({"errors": any(bad), "items": items})

    def answer(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    http.server.ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Collector).serve_forever()
