# The page in front: which one that is, when it has loaded, its elements, and what the agent gets to see of
# it. Knows no actions. Stands after chrome.py in the same program; LOOK is the script that reads a page.
import base64

LARGEST_PICTURE = 2 << 20
# For a page to load.
LOADING = 15.0
# A page that has not begun to load by then after an action stays where it is; one that was asked for has
# longer.
REACTION, BEGINNING = 0.3, 5.0


class Page:
    """The page in front, of a browser that is started when it is first needed."""

    def __init__(self):
        self.chrome = None
        self.next = 1
        self.deadline = 0.0
        self.close()

    def close(self):
        if self.chrome is not None:
            self.chrome.end()
        self.chrome, self.session, self.target, self.pages = None, None, None, []
        self.notes, self.at = [], (0, 0)
        self.asked, self.loading, self.loads = False, False, 0

    def open(self):
        self.chrome = Chrome(self.take_in)
        self.deadline = max(self.deadline, time.monotonic() + START)
        self.chrome.call("Target.setDiscoverTargets", self.deadline, discover=True)
        self.chrome.call(
            "Browser.setDownloadBehavior",
            self.deadline,
            behavior="allow",
            downloadPath=os.getcwd(),
            eventsEnabled=True,
        )
        self.to_front()

    # What happened meanwhile.

    def take_in(self, method, session, params):
        info = params.get("targetInfo", {})
        if method == "Target.targetCreated" and info.get("type") == "page":
            self.pages.append(info["targetId"])
        elif method in ("Target.targetDestroyed", "Target.targetCrashed"):
            if params["targetId"] == self.target and method.endswith("Crashed"):
                self.notes.append("the page has crashed")
            self.pages = [page for page in self.pages if page != params["targetId"]]
        elif method == "Browser.downloadWillBegin":
            self.asked, self.loading = False, False
            self.notes.append("download of %s" % params.get("suggestedFilename", "a file"))
        elif session != self.session:
            return
        elif method == "Page.javascriptDialogOpening":
            # Nobody could answer it otherwise: there is no action for that.
            self.notes.append("%s %r was accepted" % (params["type"], params["message"][:500]))
            accept = "Page.handleJavaScriptDialog"
            self.chrome.ask(accept, self.deadline, session, accept=True)
        elif params.get("frameId") != self.target:
            return
        elif method == "Page.frameRequestedNavigation":
            self.asked = True
        elif method == "Page.frameStartedLoading":
            self.asked, self.loading = False, True
        elif method == "Page.frameStoppedLoading":
            self.asked, self.loading = False, False
            self.loads += 1

    def call(self, method, **params):
        return self.chrome.call(method, self.deadline, self.session, **params)

    def to_front(self):
        """Goes to the newest page, as a person would see it."""
        if not self.pages:
            self.chrome.call("Target.createTarget", self.deadline, url="about:blank")
        while not self.pages:
            if self.chrome.hear(self.deadline) is None:
                raise Late("a new page")
        newest = self.pages[-1]
        if newest == self.target:
            return
        attached = self.chrome.call(
            "Target.attachToTarget", self.deadline, targetId=newest, flatten=True
        )
        self.session, self.target = attached["sessionId"], newest
        self.asked, self.loading = False, False
        self.call("Page.enable")
        self.call("Page.setInterceptFileChooserDialog", enabled=True)
        size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)

    def settle(self):
        """Awaits a page that begins to load."""
        begins = time.monotonic() + REACTION
        while not self.loading:
            if self.chrome.hear(min(self.deadline, begins + (BEGINNING if self.asked else 0))) is None:
                break
        self.loaded()
        self.to_front()

    def loaded(self):
        end = min(self.deadline, time.monotonic() + LOADING)
        while self.loading and self.chrome.hear(end) is not None:
            pass

    # Elements.

    def world(self):
        world = self.call(
            "Page.createIsolatedWorld", frameId=self.target, worldName="agon"
        )
        return world["executionContextId"]

    def run(self, script, *values):
        """Calls a script in the world of our own."""
        result = self.call(
            "Runtime.callFunctionOn",
            functionDeclaration=script,
            executionContextId=self.world(),
            arguments=[{"value": value} for value in values],
            returnByValue=True,
        )
        return self.value(result)

    def value(self, result):
        if "exceptionDetails" in result:
            what = result["exceptionDetails"].get("exception", {})
            raise Failed(str(what.get("description", "the page's script failed"))[:500])
        return result["result"].get("value")

    def element(self, bid):
        try:
            number = int(bid)
        except (TypeError, ValueError):
            raise Failed("an element is named by its number, not by %r" % (bid,))
        found = self.call(
            "Runtime.callFunctionOn",
            functionDeclaration="(number) => globalThis.agon?.elements.get(number)",
            executionContextId=self.world(),
            arguments=[{"value": number}],
        )
        element = found["result"].get("objectId")
        if element is None:
            raise Failed("there is no element %d on this page" % number)
        return element

    def with_element(self, bid, script, *values):
        result = self.call(
            "Runtime.callFunctionOn",
            functionDeclaration=script,
            objectId=self.element(bid),
            arguments=[{"value": value} for value in values],
            returnByValue=True,
        )
        value = self.value(result) or {}
        if "error" in value:
            raise Failed("element %s %s" % (bid, value["error"]))
        return value


def look(page, error, seconds, view):
    page.deadline = time.monotonic() + seconds
    page.to_front()
    seen = page.run(LOOK, page.next)
    page.next = seen["next"]
    picture = page.call("Page.captureScreenshot", format="png")["data"]
    if len(picture) > LARGEST_PICTURE * 4 // 3:
        picture = page.call("Page.captureScreenshot", format="jpeg", quality=60)["data"]
    top, height, window = seen["scroll"]
    lines = ["url: " + seen["url"][:2000], "title: " + seen["title"]]
    if error:
        lines.append("error: " + error[:2000])
    lines += ["note: " + note for note in page.notes[:20]]
    page.notes = []
    if height > window:
        lines.append("scrolled: %d of %d pixels" % (top, height - window))
    text = ("\n".join(lines + [""] + seen["lines"])).encode("utf-8", "replace")
    if len(text) > view or seen["more"]:
        text = text[:view] + b"\n[... the rest of the page is left out ...]"
    return [b"seen", text, base64.b64decode(picture)]
