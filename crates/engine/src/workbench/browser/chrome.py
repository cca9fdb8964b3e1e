# A Chromium in the agent's sandbox, spoken to over its debugging pipe (messages of JSON with a zero byte
# after each). Knows no actions and nothing of pages. Stands after frames.py in the same program.
import fcntl
import json
import select
import shutil
import signal
import tempfile
import time

# Programs first that are no scripts: Debian's script does not run without its folder in /etc.
PROGRAMS = (
    "/usr/lib/chromium/chromium",
    "/opt/google/chrome/chrome",
    "chromium",
    "chromium-browser",
    "google-chrome",
)
WIDTH, HEIGHT = 1280, 720
LONGEST_MESSAGE = 64 << 20
START = 30.0
FLAGS = (
    "--headless=new",
    "--remote-debugging-pipe",
    # Its own sandbox can't start in ours; ours is around it.
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-smooth-scrolling",
    "--disable-extensions",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-breakpad",
    "--no-first-run",
    "--no-default-browser-check",
    "--password-store=basic",
    "--mute-audio",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--window-size=%d,%d" % (WIDTH, HEIGHT),
)


class Gone(Exception):
    """There is no browser, or no longer."""


class Failed(Exception):
    """It refuses, which is an answer for the agent."""


class Late(Exception):
    """The page keeps it waiting."""


def high(descriptor):
    """Moves a descriptor out of the way of those that the browser gets."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(descriptor)
    return moved


class Chrome:
    def __init__(self, listener):
        """`listener` is told of events at once: some must be reacted to before anything else goes on."""
        program = next(filter(None, map(shutil.which, PROGRAMS)), None)
        if program is None:
            raise Gone("there is no chromium in this environment")
        self.folder = tempfile.mkdtemp(prefix="chromium-")
        self.complaints = tempfile.TemporaryFile()
        theirs_in, ours_out = map(high, os.pipe())
        ours_in, theirs_out = map(high, os.pipe())
        self.pid = os.fork()
        if self.pid == 0:
            try:
                self.become(program, theirs_in, theirs_out)
            finally:
                os._exit(127)
        os.close(theirs_in)
        os.close(theirs_out)
        self.way_in, self.way_out = ours_out, ours_in
        os.set_blocking(self.way_in, False)
        self.arrived, self.count, self.listener = bytearray(), 0, listener

    def become(self, program, commands, answers):
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor, number in (
            (nothing, 0),
            (nothing, 1),
            (self.complaints.fileno(), 2),
            (commands, 3),
            (answers, 4),
        ):
            os.dup2(descriptor, number)
        os.execv(program, [program, *FLAGS, "--user-data-dir=" + self.folder, "about:blank"])

    def end(self):
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except OSError:
            pass
        try:
            os.waitpid(self.pid, 0)
        except OSError:
            pass
        os.close(self.way_in)
        os.close(self.way_out)
        shutil.rmtree(self.folder, ignore_errors=True)

    def why_gone(self):
        self.complaints.seek(0)
        said = self.complaints.read(100_000).decode("utf-8", "replace").strip()
        return Gone("chromium has ended: " + said[-500:])

    def call(self, method, deadline, session=None, **params):
        number = self.ask(method, deadline, session, **params)
        while True:
            said = self.hear(deadline)
            if said is None:
                raise Late(method)
            if said.get("id") == number:
                if "error" in said:
                    raise Failed(str(said["error"].get("message", "refused")))
                return said.get("result", {})

    def ask(self, method, deadline, session=None, **params):
        """Asks without awaiting the answer."""
        self.count += 1
        message = {"id": self.count, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        number = self.count
        self.send(json.dumps(message).encode() + b"\0", deadline)
        return number

    def send(self, message, deadline):
        while message:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([], [self.way_in], [], left)[1]:
                raise Late("sending")
            try:
                message = message[os.write(self.way_in, message) :]
            except BlockingIOError:
                continue
            except OSError:
                raise self.why_gone()

    def hear(self, deadline):
        """The next message; None when the time is up."""
        while True:
            end = self.arrived.find(b"\0")
            if end >= 0:
                message = json.loads(self.arrived[:end].decode("utf-8", "replace"))
                del self.arrived[: end + 1]
                if "method" in message:
                    self.listener(message["method"], message.get("sessionId"), message["params"])
                return message
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.way_out], [], [], left)[0]:
                return None
            some = os.read(self.way_out, 1 << 20)
            if not some or len(self.arrived) > LONGEST_MESSAGE:
                raise self.why_gone()
            self.arrived += some
