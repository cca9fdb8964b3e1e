"""A whole runner of desktop test cases: `agon run CASES --runner 'cmd:python3 runner.py'`, or, with a port as
its argument, a service for `--runner http://127.0.0.1:PORT`. Its desktop only pretends: put yours in its
place."""
import base64
import http.server
import json
import struct
import sys
import time
import uuid
import zlib


class Desktop:
    """A new one for each case, with a name of its own, from the image of the case."""

    def __init__(self, image):
        self.name, self.image = f"desktop_{uuid.uuid4()}", image

    def exec(self, command):
        """Exit status and output of a shell command in the desktop."""
        return 0, f"pretended: {command}"

    def screenshot(self):
        """A PNG as a data: URI; here, one grey pixel."""
        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

        head = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
        png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0\x80")) + chunk(b"IEND", b"")
        return "data:image/png;base64," + base64.b64encode(png).decode()

    def close(self):
        pass


def run(testcase, config):
    """Plays one case and tells what happened: a TestCaseRun."""
    desktop = Desktop(testcase["desktop_image"])
    try:
        if testcase["setup_cmd"] != "None":
            status, output = desktop.exec(testcase["setup_cmd"])
            if status != 0:
                raise RuntimeError(f"the set-up failed: {output}")
        trajectory = []

        def step(action, thought):
            trajectory.append({"timestamp": time.time(), "action": action, "thought": thought,
                               "screenshot": desktop.screenshot()})

        # Your agent works here, for at most config["max_steps"][testcase["level"]] steps.
        step("name='click' parameters={'button': 'left', 'x': 640, 'y': 400}", "I click in the middle.")
        answer = "I clicked once."
        step(f"name='result' parameters={{'value': {answer!r}}}", "That is all that I can do.")
        outputs = []
        for check in testcase["checks"]:
            if check["type"] == "command_output":
                status, output = desktop.exec(check["command"])
                outputs.append({"command": check["command"], "output": {"output": output, "return_code": status}})
        return {
            "trajectory": trajectory,
            "command_output_check_results": outputs,
            "status": "finished",
            "result": {"timestamp": time.time(), "action": answer, "thought": "", "screenshot": desktop.screenshot()},
            "input_tokens": 0,
            "output_tokens": 0,
        }
    finally:
        desktop.close()


class Service(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        answer = json.dumps(run(body["testcase"], body["config"])).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


if len(sys.argv) > 1:
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Service).serve_forever()
else:
    message = json.load(sys.stdin)
    json.dump(run(message["testcase"], message["config"]), sys.stdout)
