# Keeps the agent's Python interpreter: starts it, hands it cells, collects what is printed, interrupts
# and ends it. Runs in the agent's sandbox; whoever asks it trusts nothing that it says. Needs no more
# than Python 3.6 with the modules of Debian's python3-minimal (which has no `json`).
#
# Asked over descriptor 0: [code, seconds]. Answers over descriptor 1:
# [state, detail, output, omitted, cwd, python, picture...], and first of all [b"ready"]. Stands after
# frames.py in the same program.
import fcntl
import select
import signal
import socket
import time

# For the interpreter to be ready, which is a while where IPython is large and the machine busy.
START = 60.0
# From the first interrupt to the one for everybody, from there to the end, and for the end.
PATIENCE, LAST_PATIENCE, END = 2.0, 3.0, 10.0


class Shown:
    """The first and the last half of what was printed."""

    def __init__(self, view):
        self.head_room, self.tail_room = view - view // 2, view // 2
        self.head, self.tail, self.total = bytearray(), bytearray(), 0

    def add(self, some):
        self.total += len(some)
        room = self.head_room - len(self.head)
        self.head += some[:room]
        self.tail += some[room:]
        if len(self.tail) > 2 * self.tail_room + AT_ONCE:
            del self.tail[: len(self.tail) - self.tail_room]

    def result(self):
        tail = self.tail[max(0, len(self.tail) - self.tail_room) :]
        omitted = self.total - len(self.head) - len(tail)
        if omitted:
            between = b"\n[... %d bytes left out ...]\n" % omitted
            return bytes(self.head) + between + bytes(tail), omitted
        return bytes(self.head) + bytes(tail), 0


def read_some(descriptor):
    """What can be had without waiting; None when there is nothing yet, nothing at the end."""
    try:
        return os.read(descriptor, AT_ONCE)
    except BlockingIOError:
        return None
    except OSError:
        return b""


class Keeper:
    def __init__(self, view):
        self.view = view
        self.shown = Shown(view)
        # One for all interpreters: what an earlier one left in the background may still print.
        self.output, self.output_of_cells = os.pipe()
        # A signal is noticed by waiting for this.
        self.woken, wake = os.pipe()
        for descriptor in (self.output, self.woken, wake):
            os.set_blocking(descriptor, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake)
        self.asked = Frames()
        self.over = False
        self.child, self.channel, self.said, self.ended = None, None, Frames(), None

    def start(self):
        ours, theirs = socket.socketpair()
        self.child = os.fork()
        if self.child == 0:
            ours.close()
            interpret(theirs, self.output_of_cells)
            sys.exit(0)
        theirs.close()
        ours.settimeout(END)
        self.channel, self.said, self.ended = ours, Frames(), None

    def look(self, seconds):
        """Waits for anything to happen, and takes it in."""
        watched = [self.output, self.woken]
        if not self.over:
            watched.append(0)
        if self.channel is not None:
            watched.append(self.channel.fileno())
        ready = select.select(watched, [], [], seconds)[0]
        if 0 in ready:
            some = os.read(0, AT_ONCE)
            self.asked.arrived += some
            self.over = not some
        if self.output in ready:
            self.shown.add(read_some(self.output) or b"")
        if self.woken in ready:
            read_some(self.woken)
            self.notice_end()
        if self.channel is not None and self.channel.fileno() in ready:
            self.hear()

    def hear(self):
        """Takes in what the interpreter has said; it may have closed its end without ending."""
        try:
            some = self.channel.recv(AT_ONCE, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            some = b""
        self.said.arrived += some
        if not some and self.channel is not None:
            self.channel.close()
            self.channel = None
            self.kill(signal.SIGKILL)
        return bool(some)

    def notice_end(self):
        if self.child is None:
            return
        pid, status = os.waitpid(self.child, os.WNOHANG)
        if pid == 0:
            return
        while self.channel is not None and self.hear():
            pass
        if self.channel is not None:
            self.channel.close()
        self.child, self.channel, self.ended = None, None, status

    def kill(self, number):
        """Signals the interpreter and what it has started, unless that went its own way."""
        try:
            os.killpg(self.child, number)
        except OSError:
            pass

    def said_by(self, deadline):
        """What the interpreter says next; None when it has ended or the time is up."""
        while True:
            fields = self.said.next()
            if fields is not None:
                return fields
            left = deadline - time.monotonic()
            if self.child is None or left <= 0:
                return None
            self.look(left)

    def run(self, code, seconds):
        if self.child is None:
            try:
                self.start()
            except OSError as error:
                return self.answer(b"failed", str(error).encode())
            if self.said_by(time.monotonic() + START) is None:
                self.end()
                return self.answer(b"failed", b"the interpreter did not start")
        try:
            self.channel.sendall(framed([code]))
            said = self.said_by(time.monotonic() + seconds)
        except (OSError, ValueError):
            said = None
            self.end()
        state = b"done"
        if said is None and self.child is not None:
            state = b"interrupted"
            # At first the interpreter alone: servers that it has started may go on.
            os.kill(self.child, signal.SIGINT)
            said = self.said_by(time.monotonic() + PATIENCE)
            if said is None and self.child is not None:
                self.kill(signal.SIGINT)
                said = self.said_by(time.monotonic() + LAST_PATIENCE)
            if said is None and self.child is not None:
                state = b"killed"
                self.end()
        if said is None:
            return self.answer(state if state == b"killed" else b"ended", self.how())
        return self.answer(state, b"", said)

    def end(self):
        if self.child is not None:
            self.kill(signal.SIGKILL)
            deadline = time.monotonic() + END
            while self.child is not None and time.monotonic() < deadline:
                self.look(deadline - time.monotonic())
            self.child = None

    def how(self):
        if self.ended is None:
            return b""
        if os.WIFSIGNALED(self.ended):
            return b"killed by signal %d" % os.WTERMSIG(self.ended)
        return b"exit status %d" % os.WEXITSTATUS(self.ended)

    def answer(self, state, detail, said=()):
        # All that the cell has printed is in the pipe by now. What goes on printing is cut off.
        for _ in range(64):
            some = read_some(self.output)
            if not some:
                break
            self.shown.add(some)
        output, omitted = self.shown.result()
        self.shown = Shown(self.view)
        return [state, detail, output, b"%d" % omitted] + list(said)

    def serve(self):
        write_all(1, framed([b"ready"]))
        while True:
            asked = self.asked.next()
            if asked is not None:
                code, seconds = asked
                write_all(1, framed(self.run(code, float(seconds))))
            elif self.over:
                self.end()
                return
            else:
                self.look(None)
