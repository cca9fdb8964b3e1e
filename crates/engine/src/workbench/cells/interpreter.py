# The agent's interpreter itself: runs cells one after the other in one module. With IPython where that
# can be imported, without it otherwise. Follows keeper.py in the same program.
import ast
import base64
import builtins
import io
import linecache
import traceback
import types
import warnings

MOST_PICTURES = 4
LARGEST_PICTURE = 2 << 20
# Descriptors that a cell hardly closes by chance, while those below are its own.
HIGH = 900


class Leaving(SystemExit):
    pass


class Leave:
    """exit() and quit()."""

    def __repr__(self):
        return "exit() ends this interpreter; its variables are lost."

    def __call__(self, code=None):
        raise Leaving(code)


class Pictures:
    """What a cell draws, within bounds."""

    def __init__(self):
        self.drawn = []

    def add(self, picture):
        if picture in self.drawn:
            return
        if len(self.drawn) >= MOST_PICTURES:
            print("[a picture was left out: a cell can show %d]" % MOST_PICTURES)
        elif len(picture) > LARGEST_PICTURE:
            print("[a picture of %d bytes was left out: it is too large]" % len(picture))
        else:
            self.drawn.append(picture)

    def add_of(self, value):
        """Draws a value that can be drawn."""
        for name in ("_repr_png_", "_repr_jpeg_"):
            draw = getattr(type(value), name, None)
            picture = draw(value) if draw else None
            if isinstance(picture, tuple):
                picture = picture[0]
            if picture:
                self.add(as_bytes(picture))
                return
        figures = sys.modules.get("matplotlib.figure")
        if figures and isinstance(value, figures.Figure):
            self.add(of_figure(value))

    def add_figures(self):
        """Draws all figures that are open, and closes them."""
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is None:
            return
        for number in pyplot.get_fignums():
            self.add(of_figure(pyplot.figure(number)))
        pyplot.close("all")

    def take(self):
        drawn, self.drawn = self.drawn, []
        return drawn


def as_bytes(picture):
    return base64.b64decode(picture) if isinstance(picture, str) else bytes(picture)


def of_figure(figure):
    picture = io.BytesIO()
    figure.savefig(picture, format="png", bbox_inches="tight")
    return picture.getvalue()


class Plain:
    """Python as it comes."""

    def __init__(self, pictures, streams):
        self.pictures, self.streams = pictures, streams
        self.count = 0
        module = types.ModuleType("__main__")
        module.__builtins__ = builtins
        # Ours must live on under another name: these functions are in it.
        sys.modules["_agon_keeper"] = sys.modules["__main__"]
        sys.modules["__main__"] = module
        self.names = module.__dict__
        sys.displayhook = self.show
        builtins.display = self.display
        builtins.exit = builtins.quit = Leave()

    def show(self, value):
        if value is not None:
            builtins._ = None
            self.display(value)
            builtins._ = value

    def display(self, *values):
        for value in values:
            print(repr(value))
            self.pictures.add_of(value)

    def run(self, code):
        self.count += 1
        name = "Cell In[%d]" % self.count
        lines = [line + "\n" for line in code.splitlines()]
        linecache.cache[name] = (len(code), None, lines, name)
        try:
            tree = compile(code, name, "exec", ast.PyCF_ONLY_AST, True)
            last = None
            if tree.body and isinstance(tree.body[-1], ast.Expr):
                last = ast.Interactive([tree.body.pop()])
            exec(compile(tree, name, "exec", 0, True), self.names)
            if last is not None:
                exec(compile(last, name, "single", 0, True), self.names)
        except Leaving:
            raise
        except BaseException:
            self.tell(name, lines)

    def tell(self, name, lines):
        kind, error, trace = sys.exc_info()
        # The first calls are our own.
        while trace is not None and trace.tb_frame.f_globals is globals():
            trace = trace.tb_next
        told = "".join(traceback.format_exception(kind, error, trace))
        if isinstance(error, SyntaxError) and error.filename == name:
            wrong = lines[(error.lineno or 1) - 1 :]
            if wrong and wrong[0].lstrip()[:1] in ("!", "%"):
                told += "[IPython is not installed here: there are no magics and no `!`]\n"
        self.streams.restore()
        sys.stdout.write(told)


def with_ipython(pictures):
    import tempfile

    from IPython.core.displayhook import DisplayHook
    from IPython.core.displaypub import DisplayPublisher
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets import TraitError
    from traitlets.config import Config

    def show(data):
        for kind in ("image/png", "image/jpeg"):
            if data.get(kind):
                pictures.add(as_bytes(data[kind]))
                break
        if data.get("text/plain"):
            print(data["text/plain"])

    class Hook(DisplayHook):
        def write_output_prompt(self):
            pass

        def write_format_data(self, data, *_):
            show(data)

    class Publisher(DisplayPublisher):
        def publish(self, data, *_, **__):
            show(data)

    class Shell(InteractiveShell):
        leaving = None

        def showtraceback(self, *args, **options):
            error = sys.exc_info()[1]
            if isinstance(error, Leaving):
                self.leaving = error
            else:
                super().showtraceback(*args, **options)

        def enable_gui(self, gui=None):
            """There is none to wait for: figures are drawn into memory."""

        def run(self, code):
            self.user_ns["exit"] = self.user_ns["quit"] = Leave()
            self.run_cell(code, store_history=True)
            if self.leaving is not None:
                raise self.leaving

    def opened(colours):
        settings = Config()
        settings.HistoryManager.enabled = False
        settings.InteractiveShell.colors = colours
        return Shell.instance(
            config=settings,
            ipython_dir=tempfile.mkdtemp(prefix="ipython-"),
            displayhook_class=Hook,
            display_pub_class=Publisher,
        )

    sys.modules["_agon_keeper"] = sys.modules["__main__"]
    try:
        return opened("NoColor")
    except TraitError:
        Shell.clear_instance()
        return opened("nocolor")


def open_shell(pictures, streams):
    main = sys.modules["__main__"]
    try:
        return with_ipython(pictures)
    except Exception:
        # Not there, or not whole.
        sys.modules["__main__"] = main
        return Plain(pictures, streams)


def kept(descriptor):
    """The same, where cells hardly come across it."""
    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, HIGH)
    except OSError:
        # So many are not allowed here.
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)


class Streams:
    """What the cells have as descriptors 0, 1 and 2: nothing to read, and one pipe for both outputs, so
    that these stay in order. Whatever a cell does to them, the next one finds them as they were."""

    def __init__(self, output):
        nothing = os.open(os.devnull, os.O_RDONLY)
        self.ends = [kept(nothing), kept(output), kept(output)]
        os.close(nothing)
        os.close(output)

    def restore(self):
        for number, end in enumerate(self.ends):
            os.dup2(end, number)
        for number, name in ((0, "stdin"), (1, "stdout"), (2, "stderr")):
            stream = getattr(sys, name, None)
            if stream is None or getattr(stream, "closed", False):
                self.open(number, name)

    def open(self, number, name):
        raw = io.FileIO(number, "r" if number == 0 else "w", closefd=False)
        buffer = io.BufferedReader(raw) if number == 0 else raw
        text = io.TextIOWrapper(buffer, "utf-8", "backslashreplace", write_through=True)
        setattr(sys, name, text)
        setattr(sys, "__%s__" % name, text)

    def flush(self):
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                pass


def receive(channel, frames):
    while True:
        fields = frames.next()
        if fields is not None:
            return fields
        some = channel.recv(AT_ONCE)
        if not some:
            os._exit(0)
        frames.arrived += some


def here():
    try:
        return os.getcwdb()
    except OSError:
        return b"(removed)"


def interpret(channel, output):
    def nothing(*_):
        """An interrupt that comes too late."""

    os.setsid()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, nothing)
    given, channel = channel, socket.socket(fileno=kept(channel.fileno()))
    given.close()
    streams = Streams(output)
    for name in ("stdin", "stdout", "stderr"):
        setattr(sys, name, None)
    streams.restore()
    # Figures are drawn into memory even where there is a screen.
    os.environ.setdefault("MPLBACKEND", "Agg")
    warnings.filterwarnings("ignore", message=".*is non-interactive, and thus cannot be shown")
    warnings.filterwarnings("ignore", message="To exit: use")
    pictures = Pictures()
    shell = open_shell(pictures, streams)
    sys.argv = [""]
    sys.path.insert(0, "")
    me, frames = os.getpid(), Frames()
    channel.sendall(framed([b"ready"]))
    while True:
        (code,) = receive(channel, frames)
        streams.restore()
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            shell.run(code.decode("utf-8", "replace"))
            pictures.add_figures()
            signal.signal(signal.SIGINT, nothing)
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, nothing)
            streams.restore()
            print("KeyboardInterrupt")
        except Exception:
            # Of drawing, or of IPython without a place to print.
            signal.signal(signal.SIGINT, nothing)
            streams.restore()
            traceback.print_exc()
        if os.getpid() != me:
            # A copy of us that the cell has made, and that came to the cell's end.
            os._exit(0)
        streams.flush()
        python = os.fsencode(sys.executable or "python3")
        channel.sendall(framed([here(), python] + pictures.take()))


Keeper(int(sys.argv[1])).serve()
