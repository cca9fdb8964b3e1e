// The keys of the page of a trial.
import { bind } from "./keys.js";
import { TABS } from "./panel.js";
import { capabilities } from "./source.js";

export function bindTrialKeys(trial) {
  const group = { group: "Trial" };
  const reviews = { group: "Review" };
  const scrolls = (event) => event.target instanceof Element && event.target.closest(".panel-body, .transcript, .zoomed, .axis-table");
  bind("ArrowRight", "Next step", () => trial.move(1), group);
  bind("ArrowLeft", "Previous step", () => trial.move(-1), group);
  bind("ArrowDown", null, (event) => (scrolls(event) ? false : trial.move(1)), group);
  bind("ArrowUp", null, (event) => (scrolls(event) ? false : trial.move(-1)), group);
  bind("Home", "First step", () => trial.seek(0), group);
  bind("End", "Last step", () => trial.seek(trial.index.total - 1), group);
  bind("Space", "Play or pause", () => trial.player.toggle(), group);
  bind([",", "."], "Slower, faster", (event) => trial.player.faster(event.key === "." ? 1 : -1), group);
  if (trial.finder) bind("/", "Find in actions", () => trial.finder.focus(), group);
  bind("j", "Next trial of the list", () => trial.walk(trial.neighbours.next), group);
  bind("k", "Previous trial of the list", () => trial.walk(trial.neighbours.previous), group);
  if (trial.stage) {
    bind("b", "Before or after", () => trial.stage.flip(), group);
    bind("d", "Difference", () => trial.stage.toggleDifference(), group);
    bind("o", "Draw the action", () => trial.stage.toggleMarks(), group);
    bind("z", "Fit or 100 %", () => trial.stage.toggleZoom(), group);
  }
  // A tab has the same number on every page.
  for (const name of trial.panel.names) bind(String(TABS.indexOf(name) + 1), name, () => trial.panel.open(name), group);
  if (!capabilities.review) return;
  // A verdict is written for good: a key that is pressed by chance, where no verdict can be seen, only shows
  // what it would do.
  const give = (verdict) => (event) => {
    if (trial.panel.current === "Review") {
      trial.review.give(verdict);
    } else {
      trial.panel.open("Review");
      trial.review.hint(event.key, verdict);
    }
  };
  bind("p", "Pass", give("pass"), reviews);
  bind("f", "Fail", give("fail"), reviews);
  bind("c", "Clear", give("clear"), reviews);
  bind("m", "Comment", () => {
    trial.panel.open("Review");
    trial.review.write();
  }, reviews);
  bind("n", "Next unreviewed trial", () => {
    trial.panel.open("Review");
    window.location.assign(trial.unreviewed());
  }, reviews);
}
