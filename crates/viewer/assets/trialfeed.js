// Keeps the page of a trial in step with what is told of its run: it grows while the trial is played, and is
// asked for again when that began, ended, or nobody knows what happened. The page of a trial that is only
// planned (attempt 0) becomes that of its attempt once there is one. Draws nothing.
import { plain, say } from "./dom.js";
import { feed, get, link } from "./source.js";

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
      review: (key) => same(key) && trial.reread(),
    });
  }

  // Nothing on this page holds any more: another takes its place, also on the way back.
  become(key) {
    if (!key || this.left) return;
    this.left = true;
    window.location.replace(link("trial", this.trial.run, key, this.trial.query));
  }

  catchUp() {
    this.behind = true;
    this.catching = this.catching || this.caughtUp();
  }

  async caughtUp() {
    const { trial } = this;
    while (this.behind) {
      this.behind = false;
      const was = trial.head.live;
      try {
        const { began, attempts } = await get(trial.base);
        if (isAnother(trial.head, began)) return this.become(trial.head.key);
        const played = this.planned && attempts[attempts.length - 1];
        if (played) return this.become({ ...trial.head.key, attempt: played.attempt });
        if (was) await trial.grow();
        await trial.reread();
        if (trial.head.live && !was) {
          trial.setFollow(true);
          await trial.grow();
        }
        if (was && !trial.head.live && trial.head.realtime && !trial.track) await trial.buildAxis();
      } catch (error) {
        say(plain(error.message));
      }
    }
    this.catching = null;
  }
}
