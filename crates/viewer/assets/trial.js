// The page of a trial: puts list, screen or transcript, panel and player together, and keeps the address, the
// keys and a trial that is still being played in step with them.
import { byId, data, debounce, fill, h, plain, ready, say } from "./dom.js";
import { parse, params } from "./query.js";
import { capabilities, file, get, link, picture, post, thumb } from "./source.js";
import { Axis } from "./axis.js";
import { headFacts, Panel } from "./panel.js";
import { Finder } from "./finder.js";
import { momentView } from "./moment.js";
import { Player } from "./player.js";
import { ReviewPanel } from "./review.js";
import { splitter } from "./splitter.js";
import { Stage } from "./stage.js";
import { StopButton } from "./stopping.js";
import { signLost } from "./picture.js";
import { lastBefore } from "./times.js";
import { FrameList, OPEN, StepIndex, stepsTitle, Timeline } from "./timeline.js";
import { Transcript } from "./transcript.js";
import { TrialFeed } from "./trialfeed.js";
import { drawHead, drawProblems, drawWalk } from "./trialhead.js";
import { bindTrialKeys } from "./trialkeys.js";

const KEPT = 400;
const AHEAD = 3;

class Trial {
  constructor(start) {
    this.head = start.head;
    this.neighbours = start.neighbours || {};
    this.run = this.head.run;
    this.screens = Boolean(this.head.screen);
    this.query = params(parse(window.location.search));
    this.named = new URLSearchParams(window.location.search);
    const parts = [...this.head.key.task.split("/"), this.head.key.epoch, this.head.key.attempt];
    this.base = "/runs/" + encodeURIComponent(this.run) + "/trial/" + parts.map(encodeURIComponent).join("/");
    this.kept = new Map();
    this.n = 0;
    this.turn = 0;
    // Whoever follows a link to a step wants to see that one.
    this.follow = this.head.live && !this.named.has("step");
    // Up to where steps were taken in as they are now.
    this.reached = start.steps.total;
    this.index = new StepIndex(start.steps, (from, number) => get(this.base + "/steps", { from, count: Math.min(500, number) }));
    this.ctx = {
      go: (n) => this.go(n),
      thumb: (digest) => thumb(this.run, digest),
      picture: (digest) => picture(this.run, digest),
      file: (digest) => file(this.run, digest),
      event: (seq) => get(this.base + "/events/" + Number(seq)),
      said: (seq, which) => get(this.base + "/events/" + Number(seq) + "/" + which),
      asked: () => (this.asked = this.asked || this.findAsked().catch((error) => {
        // Whoever asks next tries it again.
        this.asked = null;
        throw error;
      })),
    };
    this.address = debounce(120, () => this.writeAddress());
    this.lost = 0;
    signLost(byId("trial"), (number) => {
      this.lost = number;
      drawProblems(this.head, number);
    });
    drawHead(this.head, this.query, this.lost);
    drawWalk(this.run, this.neighbours, this.query);
    this.buildReview();
    this.buildPanel();
    this.buildMiddle();
    this.buildPlayer();
    this.buildTimeline();
    bindTrialKeys(this);
    this.buildSplitters();
    if (start.step) {
      this.kept.set(start.step.n, Promise.resolve(start.step));
      this.open(start.step, this.follow ? { mode: "after" } : {});
    }
    Promise.resolve(this.drawn).then(ready, ready);
    this.later();
  }

  // What is not needed for the first sight. A page that is a file knows neither the step nor the list that
  // its address names.
  async later() {
    const named = this.named.get("step");
    if (named !== null && /^\d+$/.test(named) && Number(named) !== this.n) this.go(Number(named));
    if (capabilities.live) this.feed = new TrialFeed(this);
    try {
      if (!capabilities.live && Object.keys(this.query).length) {
        this.neighbours = await get(this.base + "/neighbours", this.query);
        drawWalk(this.run, this.neighbours, this.query);
      }
      if (this.head.realtime && !this.head.live) await this.buildAxis();
      await this.index.all();
    } catch (error) {
      this.trouble(error);
    }
  }

  buildReview() {
    const unreviewed = () => (capabilities.review ? link("review", this.run, this.query, this.head.key) : null);
    this.review = new ReviewPanel({
      head: () => this.head,
      allowed: capabilities.review,
      post: (order) => post("/runs/" + encodeURIComponent(this.run) + "/reviews", order),
      next: unreviewed,
      changed: () => this.reread(),
    });
    this.unreviewed = unreviewed;
  }

  buildPanel() {
    this.panel = new Panel({ element: byId("side"), head: () => this.head, screens: this.screens, review: this.review, ctx: this.ctx, query: () => this.query });
  }

  buildMiddle() {
    const element = byId("stage");
    if (this.screens) {
      this.stage = new Stage(element, this.ctx.picture);
      return;
    }
    this.transcript = new Transcript({ index: this.index, step: (n) => this.step(n), ctx: this.ctx, seen: (n, last) => this.read(n, last) });
    element.append(this.index.total ? this.transcript.element : h("p", { class: "empty" }, h("strong", {}, "Nothing is recorded of this trial."), this.head.live ? "It has only just begun." : "It was not played yet, or its record is gone."));
  }

  buildSplitters() {
    const frame = document.querySelector(".trial-body");
    splitter({ column: document.querySelector(".steps"), frame, side: "left", property: "--steps-width", least: 140, most: 0.4, label: "Width of the list of steps" });
    splitter({ column: byId("side"), frame, side: "right", property: "--side-width", least: 220, most: 0.6, label: "Width of the panel" });
  }

  buildPlayer() {
    this.player = new Player({
      index: this.index,
      duration: () => (this.track ? this.track.duration : this.head.duration) || 0,
      moments: () => (this.track ? this.track.moments : this.times()),
      marked: () => !this.axis,
      at: (t, scrubbed) => this.at(t, scrubbed),
      step: (by) => this.move(by),
      seekStep: (n) => this.seek(n),
      changed: () => {},
    });
    byId("below").append(this.player.element);
    byId("below").hidden = !this.index.total;
    this.player.set(0);
  }

  buildTimeline() {
    fill(byId("steps-title"), stepsTitle(this.head));
    this.timeline = new Timeline({
      body: byId("steps"),
      scroller: byId("steps-scroll"),
      index: this.index,
      pictures: this.screens,
      thumb: this.ctx.thumb,
      href: (n) => link("trial", this.run, this.head.key, this.query, n),
      pick: (n) => this.go(n),
    });
    if (this.index.total > 8 || this.head.live) {
      this.finder = new Finder({ index: this.index, at: () => this.n, go: (n) => this.go(n) });
      byId("follow").before(this.finder.element);
    }
    this.drawFollow();
  }

  async buildAxis() {
    const track = await get(this.base + "/track");
    if (!track.frames.length && !track.inputs.length) return;
    track.moments = track.frames.map((one) => one[0]);
    this.track = track;
    this.axis = new Axis(track, (t) => {
      this.player.pause();
      this.player.set(t);
      this.at(t, true);
    });
    byId("below").prepend(this.axis.element);
    byId("trial").classList.add("in-real-time");
    if (this.head.acted === 0 && track.frames.length) {
      byId("steps-title").textContent = track.frames.length + " frames";
      this.timeline.close();
      if (this.finder) this.finder.element.remove();
      this.frames = new FrameList({ body: byId("steps"), scroller: byId("steps-scroll"), track, thumb: this.ctx.thumb, pick: (t) => {
        this.player.pause();
        this.player.set(t);
        this.at(t, true);
      } });
    }
    this.player.set(this.player.t);
    this.player.ticks();
    this.axis.setTime(this.player.t);
    if (this.frames) {
      // A step that is on its way is not wanted any more.
      this.turn += 1;
      this.toFrame(lastBefore(track.frames, (Number(this.named.get("t")) || 0) + 1e-3));
    }
  }

  times() {
    return this.index.rows.filter(Boolean).map((row) => row.t);
  }

  // Steps, whole, as far as they were asked for.
  step(n) {
    if (!this.kept.has(n)) {
      const asked = get(this.base + "/steps/" + n);
      asked.catch(() => this.kept.delete(n));
      this.kept.set(n, asked);
      if (this.kept.size > KEPT) this.kept.delete(this.kept.keys().next().value);
    }
    return this.kept.get(n);
  }

  // What the agent's model was asked first: that has the picture of a prediction.
  async findAsked() {
    for (let n = 0; n < Math.min(AHEAD, this.index.total); n += 1) {
      const { events } = await this.step(n);
      const call = events.find((event) => event.kind === "model" && event.model.purpose !== "judge" && event.model.request !== undefined);
      if (call) return this.ctx.said(call.seq, "request");
    }
    return null;
  }

  move(by) {
    if (this.track && this.head.acted === 0) this.moveFrame(by);
    else this.go(this.n + by);
  }

  seek(n) {
    if (this.track && this.head.acted === 0) this.toFrame(n <= 0 ? 0 : this.track.frames.length - 1);
    else this.go(n);
  }

  moveFrame(by) {
    this.toFrame(lastBefore(this.track.frames, this.player.t + 1e-6) + by);
  }

  toFrame(at) {
    const frame = this.track.frames[Math.max(0, Math.min(at, this.track.frames.length - 1))];
    if (!frame) return;
    this.player.pause();
    this.player.set(frame[0]);
    this.at(frame[0], true);
  }

  // Shows a step. `how`: {playing: the player does it, focus: the row gets the focus, exact}
  async go(n, how = {}) {
    if (!this.index.total) return;
    const to = Math.max(0, Math.min(Number(n) || 0, this.index.total - 1));
    if (!how.playing) {
      this.player.pause();
      if (to < this.last()) this.setFollow(false);
    }
    this.n = to;
    // Whoever presses play before the step is there plays from it.
    const row = this.index.at(to);
    if (row && !how.playing) this.player.set(row.t);
    this.select(how);
    const step = await this.wanted(to);
    if (step) this.open(step, how);
  }

  // Resolves to a step, unless another one is wanted by then.
  async wanted(n) {
    const turn = ++this.turn;
    try {
      const step = await this.step(n);
      return turn === this.turn ? step : null;
    } catch (error) {
      if (turn === this.turn) this.trouble(error);
      return null;
    }
  }

  // The same step as it is now, as it is looked at.
  redo() {
    return this.go(this.n, { playing: true, mode: this.stage && this.stage.drawn });
  }

  select(how = {}) {
    if (!this.frames) this.timeline.select(this.n, how);
    this.address();
  }

  // Puts a step on the page.
  open(step, how = {}) {
    this.n = step.n;
    this.shown = step;
    if (!how.playing) this.player.set(step.t);
    if (this.axis && !how.playing) this.axis.setTime(step.t);
    this.select(how);
    this.playing = how.playing ? how.mode || this.playedMode(step) : null;
    if (this.stage && !(this.track && how.playing)) this.drawn = this.stage.show(step, how.mode || (how.playing ? this.playedMode(step) : undefined));
    if (this.transcript && this.index.total) this.transcript.show(step.n, { scroll: !how.read, exact: how.exact, end: this.follow }).catch((error) => this.trouble(error));
    this.panel.show(step);
    if (!how.playing) say(step.kind === "setup" ? "Start" : step.kind === "end" ? "End" : "Step " + step.n + ": " + plain(step.brief));
    this.prefetch(step.n);
  }

  async prefetch(n) {
    const wanted = [];
    for (let by = 1; by <= AHEAD; by += 1) if (n + by < this.index.total) wanted.push(this.step(n + by));
    if (n > 0) wanted.push(this.step(n - 1));
    const found = await Promise.allSettled(wanted);
    if (this.n === n && this.stage) this.stage.ahead(found.filter((one) => one.status === "fulfilled").map((one) => one.value));
  }

  // Another step is at the top of what is read. Whoever reads what is not the newest is left in peace.
  async read(n, last) {
    if (this.follow && last) return;
    this.setFollow(false);
    if (n === this.n) return;
    this.n = n;
    this.select();
    const step = await this.wanted(n);
    if (step) this.open(step, { read: true });
  }

  // A moment of the replay, or one that was pointed at.
  at(t, scrubbed) {
    const n = this.index.when(t);
    if (this.track) {
      this.frameAt(t);
      if (n !== this.n && this.head.acted > 0) this.go(n, { playing: true });
      return;
    }
    if (n !== this.n) {
      this.go(n, { playing: true, exact: !scrubbed });
    } else if (this.stage && this.shown && this.shown.n === n) {
      this.now = t;
      const mode = this.playedMode(this.shown);
      if (mode !== this.playing) this.stage.draw(mode);
      this.playing = mode;
    }
    this.now = t;
  }

  // First what the agent saw and did, then what came of it.
  playedMode(step) {
    const done = step.after ? step.after.t - step.t : 0;
    const seen = step.t + Math.max(done, Math.min(0.6, (step.until - step.t) / 2));
    return (this.now || 0) < seen && step.kind !== "setup" && step.kind !== "end" ? "before" : "after";
  }

  frameAt(t) {
    const { frames, blobs } = this.track;
    const at = Math.max(0, lastBefore(frames, t + 1e-6));
    const frame = frames[at];
    this.axis.setTime(t);
    if (!frame || !this.stage) return;
    if (this.frames) this.frames.select(at);
    if (this.frames && this.frame !== at) this.panel.instead(() => momentView(this.track, at));
    if (this.frame !== at || this.stage.step) this.stage.frame(blobs[frame[1]], this.head.screen, frame[0]);
    this.frame = at;
    if (this.frames && !this.player.playing) this.address();
    for (const next of frames.slice(at + 1, at + 9)) this.stage.pictures.load(blobs[next[1]]).catch(() => {});
  }

  writeAddress() {
    // Of one that is followed: always the newest step, as the page shows it.
    const address = link("trial", this.run, this.head.key, this.query, this.follow ? null : this.n);
    try {
      const time = this.frames ? "&t=" + this.player.t.toFixed(3) : "";
      const asked = address.includes("?") ? address.slice(address.indexOf("?")) + time : window.location.pathname;
      window.history.replaceState(null, "", asked);
    } catch {
      // A browser may forbid it for files: then the address stays.
    }
  }

  trouble(error) {
    const told = plain(error.message);
    say(told);
    const place = byId("problems");
    place.hidden = false;
    if (![...place.children].some((one) => one.textContent === told)) place.append(h("li", { class: "broken" }, told));
  }

  // The viewer answers: what could not be had is asked for again.
  again() {
    if (this.shown && this.shown.n !== this.n && !this.frames) this.redo();
    if (this.stage) this.stage.again();
    if (this.transcript) this.transcript.more();
  }

  walk(key) {
    if (key) window.location.assign(link("trial", this.run, key, this.query));
    else say("There is no further trial in this list.");
  }

  drawFollow() {
    const place = byId("follow");
    if (!this.head.live) {
      if (this.stop) this.stop.over();
      place.replaceChildren();
      return;
    }
    if (capabilities.stop && !this.stop) this.stop = new StopButton(() => ({ run: this.run, key: this.head.key, began: this.head.began, name: this.head.task.name, stopped: () => this.stopping() }), "small-button");
    place.replaceChildren(this.stop ? this.stop.element : "", " ", h("button", { type: "button", class: "small-button", "aria-pressed": String(this.follow), onclick: () => this.setFollow(!this.follow), title: "Always show the newest step" }, "Follow"));
  }

  setFollow(follow) {
    if (this.follow === follow) return;
    this.follow = follow && this.head.live;
    this.drawFollow();
    this.address();
    if (this.follow) this.go(this.last(), { playing: true, mode: "after" });
  }

  // The newest step that there is something to see of.
  last() {
    return Math.max(0, this.index.total - (this.head.live ? OPEN : 1));
  }

  stopping() {
    if (this.stop) this.stop.set({ stopping: true });
  }

  state(moment) {
    if (this.stop) this.stop.set(moment);
  }

  // Frames come faster than steps, and are shown as they are.
  moment(moment) {
    this.state(moment);
    if (moment.step > this.head.steps) {
      this.head.steps = moment.step;
      fill(byId("steps-title"), stepsTitle(this.head));
      fill(byId("facts"), headFacts(this.head, this.query));
    }
    if (this.head.realtime && this.stage && this.follow && moment.shot) {
      this.stage.frame(moment.shot, this.head.screen, (Date.now() - Date.parse(moment.began)) / 1000);
      return;
    }
    this.feed.grow().catch((error) => say(plain(error.message)));
  }

  // Takes in steps that are new. Resolves to whether there are more of them.
  async grown() {
    const from = Math.max(0, this.reached - OPEN);
    const steps = await this.index.ask(from, 500);
    for (const n of [...this.kept.keys()]) if (n >= from) this.kept.delete(n);
    // It was opened before its screen was there: that is another page.
    if (!this.screens && steps.rows.some((row) => row.shot)) {
      this.feed.leave(() => window.location.reload());
      return false;
    }
    byId("below").hidden = !this.index.total;
    const newest = steps.rows[steps.rows.length - 1];
    if (newest) this.head.duration = Math.max(this.head.duration, newest.t);
    this.head.acted = Math.max(this.head.acted, ...steps.rows.filter((row) => row.kind !== "end").map((row) => row.n));
    this.head.steps = Math.max(this.head.steps, this.head.acted);
    if (!this.frames) {
      this.timeline.grown();
      fill(byId("steps-title"), stepsTitle(this.head));
    }
    fill(byId("facts"), headFacts(this.head, this.query));
    if (this.transcript && this.index.total) {
      if (!this.transcript.element.isConnected) fill(byId("stage"), this.transcript.element);
      await this.transcript.grown(from);
    }
    if (this.follow) await this.go(this.last(), { playing: true, mode: "after" });
    else if (this.n >= from) await this.redo();
    this.player.ticks();
    this.player.set(this.follow ? this.head.duration : this.player.t);
    // Where something went wrong, the same is asked for again.
    this.reached = steps.from + steps.rows.length;
    return this.reached < steps.total;
  }

  async reread() {
    const turn = (this.rereads = (this.rereads || 0) + 1);
    const head = await get(this.base);
    if (this.feed && this.feed.overtaken(head)) return;
    // The last steps first: where they can't be had, it is not taken for ended.
    if (this.head.live && !head.live) await this.feed.grow();
    // An answer that was overtaken by a newer one.
    if (turn < (this.newest || 0)) return;
    this.newest = turn;
    const others = (of) => JSON.stringify({ ...of, review: null, state: null, flags: null, why: null });
    const reviewed = others(head) === others(this.head);
    this.head = head;
    if (!this.head.live) this.setFollow(false);
    drawHead(this.head, this.query, this.lost);
    this.drawFollow();
    this.review.draw();
    this.panel.refresh(reviewed);
  }
}

const start = data();
if (start.head) new Trial(start);
