"""HTTP and JSON of the arena's wire, with nothing but the standard library.

Both servers and the client use it. With AGON_ARENA_TOKEN set, it is shown to everybody who is called and
demanded from everybody who calls.
"""

import http.client
import json
import os
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

TOKEN = os.environ.get("AGON_ARENA_TOKEN")
MOST_BYTES = 1 << 20

# The keys of a task with their types; those with a default may be left out.
TASK = {
    "task_id": (str, lambda: str(uuid.uuid4())),
    "env_name": (str, None),
    "window_name": (str, None),
    "task_description": (str, None),
    "timeout": (int, None),
    "check_env_interval_seconds": ((int, float), lambda: 1.0),
    "success_criteria": (dict, None),
    "num_frames": (int, lambda: 3),
}


def call(method, url, body=None, timeout=10.0):
    """Returns (status, answer); the status is 0 if nobody answers in time."""
    where = urlsplit(url)
    headers = {"Authorization": f"Bearer {TOKEN}"} if TOKEN else {}
    data = None
    if body is not None:
        headers["Content-Type"] = "application/json"
        data = json.dumps(body)
    connection = http.client.HTTPConnection(where.hostname, where.port or 80, timeout=timeout)
    try:
        connection.request(method, where.path, data, headers)
        answer = connection.getresponse()
        text = answer.read(MOST_BYTES)
        return answer.status, json.loads(text) if text else None
    except (OSError, ValueError, http.client.HTTPException):
        return 0, None
    finally:
        connection.close()


def read_task(body):
    """Returns the task, or raises ValueError with what is wrong. Unknown keys are dropped."""
    task = {}
    for key, (kind, default) in TASK.items():
        if key in body:
            if not isinstance(body[key], kind) or isinstance(body[key], bool):
                raise ValueError(f"{key} has the wrong type")
            task[key] = body[key]
        elif default:
            task[key] = default()
        else:
            raise ValueError(f"{key} is missing")
    if task["timeout"] <= 0 or task["check_env_interval_seconds"] < 0.01:
        raise ValueError("timeout or check_env_interval_seconds is too small")
    return task


def ok(message):
    return 200, {"success": True, "message": message}


def refused(error, status=400):
    return status, {"success": False, "error": error}


def listen(host, port, routes):
    """A server for `routes`: {("POST", "/path"): function(body) -> (status, answer)}."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 30  # of a connection that says nothing

        def handle_request(self):
            status, answer = self.answer()
            text = b"" if answer is None else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            if status != 204:
                self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = handle_request

        def answer(self):
            try:
                length = int(self.headers.get("Content-Length") or 0)
            except ValueError:
                length = -1
            if not 0 <= length <= MOST_BYTES:
                self.close_connection = True  # what follows is not read
                return 413, {"detail": "Body too large"}
            text = self.rfile.read(length)
            if TOKEN and self.headers.get("Authorization") != f"Bearer {TOKEN}":
                return 401, {"detail": "Unauthorized"}
            route = routes.get((self.command, self.path))
            if route is None:
                known = any(path == self.path for _, path in routes)
                return (405, {"detail": "Method Not Allowed"}) if known else (404, {"detail": "Not Found"})
            try:
                body = json.loads(text) if text else {}
                return route(body if isinstance(body, dict) else {})
            except (ValueError, KeyError, TypeError) as error:
                wrong = {"type": "value_error", "loc": ["body"], "msg": str(error), "input": None}
                return 422, {"detail": [wrong]}

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer((host, port), Handler)
    server.daemon_threads = True
    return server


def serve(server):
    """Says where it is, and serves until Ctrl-C."""
    host, port = server.server_address[:2]
    print(f"http://{host}:{port}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
