// Keeps the page of a trial in step with what is told of its run: it grows while the trial is played, and is
// asked for again when that began, ended, or nobody knows what happened. The page of a trial that is only
// planned (attempt 0) becomes that of its attempt once there is one. Draws nothing.
import { plain, say } from "./dom.js";
import { feed, link } from "./source.js";

// Whether an attempt of the same number was begun anew: a run that was killed plays it again, and nothing of
// the old record is left. When it began is told by two clocks, which may differ a little.
function isAnother(head, began) {
  if (!head.began || head.began === began) return false;
  return !began || Math.abs(Date.parse(head.began) - Date.parse(began)) > 500;
}

export class TrialFeed {
  constructor(trial) {
    this.trial = trial;
    const same = (key) => key.task === trial.head.key.task && key.epoch === trial.head.key.epoch;
    const mine = (key) => same(key) && key.attempt === trial.head.key.attempt;
    this.planned = trial.head.key.attempt === 0;
    // As far as everything on the page is about that.
    this.live = trial.head.live;
    let before = false;
    feed(trial.run, {
      // What happened while nobody looked at the page was not told.
      open: () => {
        if (before || trial.head.live || this.planned) this.catchUp();
        before = true;
      },
      progress: (now) => {
        if (this.planned) return this.become(now.running.find(same));
        const moment = now.running.find(mine);
        if (moment) trial.state(moment);
        if (Boolean(moment) !== trial.head.live || (moment && isAnother(trial.head, moment.began))) this.catchUp();
      },
      moment: (moment) => {
        if (this.planned && same(moment)) return this.become(moment);
        if (!trial.head.live || !mine(moment)) return;
        if (isAnother(trial.head, moment.began)) this.catchUp();
        else trial.moment(moment);
      },
      trial: (row) => same(row) && (this.planned ? this.become(row) : this.catchUp()),
      stopping: (key) => mine(key) && trial.stopping(),
      review: (key) => same(key) && trial.reread().catch((error) => say(plain(error.message))),
    });
  }

  // Nothing on this page holds any more: another takes its place, also on the way back.
  become(key) {
    if (key) this.leave(() => window.location.replace(link("trial", this.trial.run, key, this.trial.query)));
  }

  // Whether what is told of the trial by now is about another attempt, whose page it becomes then.
  overtaken({ began, attempts }) {
    const { key } = this.trial.head;
    const played = this.planned && attempts[attempts.length - 1];
    if (isAnother(this.trial.head, began)) this.become(key);
    else if (played) this.become({ ...key, attempt: played.attempt });
    return Boolean(this.left);
  }

  // Another page takes the place of this one. Once: who asks for it again begins anew to wait for it.
  leave(go) {
    if (this.left) return;
    this.left = true;
    go();
  }

  // Resolves once every step that was recorded when it was called is on the page.
  grow() {
    this.more = true;
    this.growing = this.growing || this.grown();
    return this.growing;
  }

  async grown() {
    try {
      while (this.more && !this.left) {
        this.more = false;
        if (await this.trial.grown()) this.more = true;
      }
    } finally {
      this.growing = null;
    }
  }

  catchUp() {
    this.behind = true;
    this.catching = this.catching || this.caughtUp();
  }

  async caughtUp() {
    const { trial } = this;
    while (this.behind && !this.left) {
      this.behind = false;
      try {
        await trial.reread();
        const { live, realtime } = trial.head;
        if (live && !this.live) trial.setFollow(true);
        if (live) await this.grow();
        if (this.live && !live && realtime && !trial.track) await trial.buildAxis();
        this.live = live;
        trial.again();
      } catch (error) {
        say(plain(error.message));
      }
    }
    this.catching = null;
  }
}
