# Run: SIGNING_KEYS=key1,key2 python3 receiver.py (Python 3.8 or newer)
# region imports
import base64
import hashlib
import hmac
import time
# endregion
import json
import os
import queue
import threading
import traceback
from collections import OrderedDict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MAX_BODY_BYTES = 64 * 1024
MAX_WAITING = 1_000
MAX_REMEMBERED = 100_000

# region verify
TOLERANCE_SECONDS = 300


def is_genuine(body, headers, signing_keys):
    """`body` is the bytes as they arrived. During a roll there are two signing keys."""
    event_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        return False
    if abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    given = headers.get("webhook-signature", "").split(" ")
    message = f"{event_id}.{timestamp}.".encode() + body
    for key in signing_keys:
        digest = hmac.new(key.encode(), message, hashlib.sha256).digest()
        expected = b"v1," + base64.b64encode(digest)
        if any(hmac.compare_digest(text.encode(), expected) for text in given):
            return True
    return False
# endregion


SIGNING_KEYS = os.environ.get("SIGNING_KEYS", "").replace(",", " ").split()
if not SIGNING_KEYS:
    raise SystemExit("Set SIGNING_KEYS to one or more signing keys, separated by commas.")

# A restart forgets these: use a table with a unique guid if your work must not run twice.
remembered = OrderedDict()
lock = threading.Lock()
waiting = queue.Queue(MAX_WAITING)


def handle(event):
    """Your work. It runs after the answer."""
    print(f"received {event['event_type']} {event['guid']}", flush=True)


def accept(event):
    """The status to answer with."""
    with lock:
        if event["guid"] in remembered:
            print(f"duplicate {event['guid']}", flush=True)
            return 204
        try:
            waiting.put_nowait(event)
        except queue.Full:
            return 503
        remembered[event["guid"]] = True
        if len(remembered) > MAX_REMEMBERED:
            remembered.popitem(last=False)
        return 204


def work():
    while True:
        event = waiting.get()
        try:
            handle(event)
        except Exception:
            traceback.print_exc()


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 90

    def do_POST(self):
        length = self.headers.get("content-length", "")
        if not (length.isascii() and length.isdigit() and len(length) <= 12):
            return self.answer(411)
        if int(length) > MAX_BODY_BYTES:
            return self.answer(413)
        body = self.rfile.read(int(length))
        if not is_genuine(body, self.headers, SIGNING_KEYS):
            return self.answer(401)
        self.answer(accept(json.loads(body)))

    def answer(self, status):
        self.send_response(status)
        if status == 503:
            self.send_header("Retry-After", "10")
        if status in (411, 413):
            # The body is not read, so the connection cannot be used again.
            self.send_header("Connection", "close")
        if status != 204:
            self.send_header("Content-Length", "0")
        self.end_headers()

    def log_request(self, *_):
        pass


if __name__ == "__main__":
    threading.Thread(target=work, daemon=True).start()
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "0"))), Receiver)
    print(f"Listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
