# What the agent can do with a page. Stands after page.py in the same program.
#
# Asked over descriptor 0: [calls, seconds, seconds to look at the page then]. Answers over descriptor 1: [b"seen", text, picture] or
# [b"failed", why], and first of all [b"ready"].
import ast
import inspect

MOST_CALLS = 20
# Pixels.
FARTHEST = 1_000_000

MODIFIERS = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}
# Name: code and number of the key, and what it types.
KEYS = {
    "Enter": (13, "\r"),
    "Tab": (9, ""),
    "Escape": (27, ""),
    "Backspace": (8, ""),
    "Delete": (46, ""),
    "Insert": (45, ""),
    "Space": (32, " "),
    "ArrowLeft": (37, ""),
    "ArrowUp": (38, ""),
    "ArrowRight": (39, ""),
    "ArrowDown": (40, ""),
    "Home": (36, ""),
    "End": (35, ""),
    "PageUp": (33, ""),
    "PageDown": (34, ""),
}
KEYS.update({"F%d" % number: (111 + number, "") for number in range(1, 13)})

# Where to put the pointer for an element, in pixels of the window.
PLACE = """function (used) {
  if (!this.isConnected) return { error: "is no longer on the page" };
  if (used && this.disabled) return { error: "is disabled" };
  this.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  const box = [...this.getClientRects()].find((box) => box.width && box.height);
  if (!box) return { error: "can't be seen" };
  let x = box.left + box.width / 2, y = box.top + box.height / 2;
  const there = this.getRootNode().elementFromPoint(x, y);
  if (there && !this.contains(there) && !there.contains(this) && ![...(this.labels || [])].some((label) => label.contains(there)))
    return { error: "is covered by <" + there.localName + (there.id ? ' id="' + there.id + '"' : "") + ">" };
  for (let view = this.ownerDocument.defaultView; view.frameElement; view = view.parent) {
    const frame = view.frameElement, outer = frame.getBoundingClientRect();
    x += outer.left + frame.clientLeft;
    y += outer.top + frame.clientTop;
  }
  return { x, y };
}"""
# Makes an element ready for text, and says whether that can be typed.
READY = """function (text) {
  if (this.disabled) return { error: "is disabled" };
  if (this.readOnly) return { error: "is read-only" };
  this.scrollIntoView({ block: "center", behavior: "instant" });
  this.focus();
  const typed = /^(text|search|url|tel|email|password|number)$/;
  if (this.localName === "textarea" || (this.localName === "input" && typed.test(this.type))) {
    this.select();
    if (text) return { type: true };
  } else if (this.isContentEditable) {
    const all = document.createRange();
    all.selectNodeContents(this);
    getSelection().removeAllRanges();
    getSelection().addRange(all);
    if (text) return { type: true };
    this.ownerDocument.execCommand("delete");
    return {};
  } else if (this.localName !== "input" || /^(checkbox|radio|file|button|submit|reset|image)$/.test(this.type)) {
    return { error: "takes no text" };
  }
  this.value = text;
  if (this.value !== text) return { error: "does not take " + JSON.stringify(text) };
  this.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  this.dispatchEvent(new Event("change", { bubbles: true }));
  return {};
}"""
SELECT = """function (wanted) {
  if (this.localName !== "select") return { error: "is no list to select from" };
  if (this.disabled) return { error: "is disabled" };
  const all = [...this.options];
  const found = wanted.map((want) => all.find((o) => o.value === want || o.label.trim() === want.trim()));
  const missing = wanted.filter((_, at) => !found[at]);
  if (missing.length) return { error: "has no option " + JSON.stringify(missing[0]) + "; it has " + JSON.stringify(all.slice(0, 50).map((o) => o.label)) };
  if (found.length > 1 && !this.multiple) return { error: "takes one option only" };
  for (const option of all) option.selected = found.includes(option);
  this.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  this.dispatchEvent(new Event("change", { bubbles: true }));
  return {};
}"""
FOCUS = """function () {
  this.scrollIntoView({ block: "center", behavior: "instant" });
  this.focus();
  return {};
}"""


def mouse(page, kind, button="none", count=0, modifiers=0, **more):
    x, y = page.at
    page.call(
        "Input.dispatchMouseEvent",
        type=kind,
        x=x,
        y=y,
        button=button,
        clickCount=count,
        modifiers=modifiers,
        **more
    )


def move_to(page, bid, used=False):
    place = page.with_element(bid, PLACE, used)
    page.at = (place["x"], place["y"])
    mouse(page, "mouseMoved")


def press_button(page, bid, button, modifiers, times):
    if button not in ("left", "middle", "right"):
        raise Failed("a button is 'left', 'middle' or 'right'")
    held = sum(modifier(name) for name in set(modifiers or ()))
    move_to(page, bid, used=True)
    for count in range(1, times + 1):
        mouse(page, "mousePressed", button, count, held)
        mouse(page, "mouseReleased", button, count, held)


def goto(page, url):
    before = page.loads
    went = page.call("Page.navigate", url=str(url))
    if went.get("errorText"):
        raise Failed("%s: %s" % (url, went["errorText"]))
    # Without a loader it was a place on the same page.
    page.loading = "loaderId" in went and page.loads == before


def go_back(page):
    go_by(page, -1)


def go_forward(page):
    go_by(page, 1)


def go_by(page, steps):
    history = page.call("Page.getNavigationHistory")
    to = history["currentIndex"] + steps
    if not 0 <= to < len(history["entries"]):
        raise Failed("there is no page to go to")
    page.call("Page.navigateToHistoryEntry", entryId=history["entries"][to]["id"])


def noop(page, wait_ms=1000):
    end = min(page.deadline, time.monotonic() + float(wait_ms) / 1000)
    while page.chrome.hear(end) is not None:
        pass


def scroll(page, delta_x, delta_y):
    if not all(abs(delta) <= FARTHEST for delta in (delta_x, delta_y)):
        raise Failed("that is too far")
    page.at = (WIDTH // 2, HEIGHT // 2)
    mouse(page, "mouseWheel", deltaX=float(delta_x), deltaY=float(delta_y))


def fill(page, bid, value):
    text = str(value)
    if page.with_element(bid, READY, text).get("type"):
        page.call("Input.insertText", text=text)


def clear(page, bid):
    fill(page, bid, "")


def select_option(page, bid, options):
    wanted = list(options) if isinstance(options, (list, tuple)) else [options]
    page.with_element(bid, SELECT, [str(want) for want in wanted])


def click(page, bid, button="left", modifiers=()):
    press_button(page, bid, button, modifiers, 1)


def dblclick(page, bid, button="left", modifiers=()):
    press_button(page, bid, button, modifiers, 2)


def hover(page, bid):
    move_to(page, bid)


def focus(page, bid):
    page.with_element(bid, FOCUS)


def press(page, bid, key_comb):
    focus(page, bid)
    *held, key = str(key_comb).split("+") if key_comb != "+" else ["+"]
    bits = sum(modifier(name) for name in set(held))
    number, text = KEYS.get(key, (ord(key.upper()) if len(key) == 1 else 0, key))
    if len(key) != 1 and key not in KEYS:
        raise Failed("there is no key %r; keys are %s" % (key, ", ".join(KEYS)))
    if bits & ~MODIFIERS["Shift"]:
        text = ""
    event = {"key": " " if key == "Space" else key, "modifiers": bits}
    event["windowsVirtualKeyCode"] = number
    if key in KEYS:
        event["code"] = key
    if key.lower() == "a" and bits == MODIFIERS["Control"]:
        event["commands"] = ["selectAll"]
    kind = "keyDown" if text else "rawKeyDown"
    page.call("Input.dispatchKeyEvent", type=kind, text=text, **event)
    event.pop("commands", None)
    page.call("Input.dispatchKeyEvent", type="keyUp", **event)


def drag_and_drop(page, from_bid, to_bid):
    move_to(page, from_bid)
    mouse(page, "mousePressed", "left", 1, buttons=1)
    x, y = page.at
    place = page.with_element(to_bid, PLACE, False)
    for step in (0.1, 0.5, 0.9, 1):
        page.at = (x + (place["x"] - x) * step, y + (place["y"] - y) * step)
        mouse(page, "mouseMoved", "left", buttons=1)
    mouse(page, "mouseReleased", "left", 1)


def upload_file(page, bid, file):
    files = list(file) if isinstance(file, (list, tuple)) else [file]
    files = [os.path.abspath(str(name)) for name in files]
    for name in files:
        if not os.path.isfile(name):
            raise Failed("there is no file %s" % name)
    page.call("DOM.setFileInputFiles", files=files, objectId=page.element(bid))


def modifier(name):
    name = "Control" if name == "ControlOrMeta" else name
    if name not in MODIFIERS:
        raise Failed("there is no modifier %r; there are %s" % (name, ", ".join(MODIFIERS)))
    return MODIFIERS[name]


ACTIONS = {
    action.__name__: action
    for action in (
        goto,
        go_back,
        go_forward,
        noop,
        scroll,
        fill,
        select_option,
        click,
        dblclick,
        hover,
        press,
        focus,
        clear,
        drag_and_drop,
        upload_file,
    )
}


def parsed(code):
    """The calls in a text. Nothing of it is evaluated but plain values."""
    try:
        tree = ast.parse(code.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Failed("not understood: %s" % error)
    calls = []
    for line in tree.body:
        call = getattr(line, "value", None)
        if not isinstance(line, ast.Expr) or not isinstance(call, ast.Call):
            raise Failed("only calls are understood, such as click('12')")
        name = call.func.id if isinstance(call.func, ast.Name) else None
        if name not in ACTIONS:
            raise Failed("there are only these calls: %s" % ", ".join(ACTIONS))
        try:
            values = [ast.literal_eval(value) for value in call.args]
            named = {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg}
            if len(named) < len(call.keywords):
                raise ValueError("** is not understood")
            inspect.signature(ACTIONS[name]).bind(None, *values, **named)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
            raise Failed("%s: %s" % (name, error))
        calls.append((name, values, named))
    if not 0 < len(calls) <= MOST_CALLS:
        raise Failed("1 to %d calls are understood" % MOST_CALLS)
    return calls


def act(page, code, seconds):
    """Carries out the calls up to the first that fails, and says why that failed."""
    if page.chrome is None:
        page.open()
    page.deadline = time.monotonic() + seconds
    name = None
    try:
        for name, values, named in parsed(code):
            ACTIONS[name](page, *values, **named)
            page.settle()
    except (Failed, TypeError, ValueError, OverflowError) as error:
        return "%s: %s" % (name, error) if name else str(error)
    except Late:
        return "%s: not done within %.0f s" % (name, seconds)


def answer(page, code, seconds, looking, view):
    try:
        return look(page, act(page, code, seconds), looking, view)
    except Gone as gone:
        page.close()
        return [b"failed", str(gone).encode("utf-8", "replace")]
    except (Failed, Late) as error:
        page.close()
        why = "the page could not be looked at (%s); the browser was closed, the next action starts it anew"
        return [b"failed", (why % error).encode("utf-8", "replace")]


def serve(view):
    page, asked = Page(), Frames()
    write_all(1, framed([b"ready"]))
    while True:
        fields = asked.next()
        if fields is not None:
            code, seconds, looking = fields
            code = code.decode("utf-8", "replace")
            write_all(1, framed(answer(page, code, float(seconds), float(looking), view)))
            continue
        some = os.read(0, AT_ONCE)
        if not some:
            page.close()
            return
        asked.arrived += some


serve(int(sys.argv[1]))
