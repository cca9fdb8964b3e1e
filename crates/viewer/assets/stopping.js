// Ends a trial that is being played, after asking once more.
//
// new StopButton(trial)  trial() -> {run, key, began, name, stopped(): its end was asked for}; `began` tells the attempt on
//     the page from another one of the same number, which a run plays that was killed and goes on. `element`; ask()
//     opens the dialog; set({phase, stopping})  what is known of the trial: one that is graded can't be stopped any
//     more; over()  it has ended: nothing is asked about it any more.
import { h, plain, say } from "./dom.js";
import { post } from "./source.js";
import { offered, remember } from "./who.js";

// Nothing that is asked for in them has any effect.
const OVER = ["frozen", "graded"];

let dialog = null;
let asked = null;
let asker = null;
// The trial whose end is being asked for.
let ordered = null;

function build() {
  const what = h("p", { id: "stop-what", class: "stop-what" });
  const by = h("input", { id: "stop-by", type: "text", maxlength: "100", autocomplete: "name", placeholder: "may stay empty", onkeydown: (event) => event.key === "Enter" && !event.isComposing && order() });
  const failed = h("p", { id: "stop-failed", class: "is-failed", role: "alert", hidden: true });
  const now = h("button", { id: "stop-now", type: "button", class: "danger", onclick: () => order() }, "Stop the trial");
  const element = h("dialog", { id: "stop", "aria-labelledby": "stop-title" },
    h("h2", { id: "stop-title" }, "Stop this trial?"), what,
    h("p", { class: "note" }, "The agent's turn ends now. What it left is graded as it stands, and the record says that an operator stopped it."),
    h("p", { class: "stop-by" }, h("label", { for: "stop-by" }, "Your name, for the record"), by), failed,
    h("form", { method: "dialog" }, h("button", { type: "submit", value: "no", autofocus: true }, "Let it go on"), now));
  document.body.append(element);
  return { element, what, by, failed, now };
}

function open(button, trial) {
  dialog = dialog || build();
  asked = trial;
  asker = button;
  dialog.what.textContent = plain(trial.name) + " (" + plain(trial.key.task) + ")";
  dialog.by.value = offered();
  dialog.failed.hidden = true;
  dialog.now.disabled = false;
  dialog.element.showModal();
}

// The answer may come when the dialog asks about another trial: that one is not meant.
async function order() {
  const trial = asked;
  const { run, key, began, stopped } = trial;
  const { element, by, failed, now } = dialog;
  if (now.disabled) return;
  const name = by.value.trim();
  remember(name);
  now.disabled = true;
  ordered = trial;
  try {
    const one = { task: key.task, epoch: key.epoch, attempt: key.attempt };
    await post("/runs/" + encodeURIComponent(run) + "/stop", { trial: one, began, by: name });
    if (asked === trial) element.close();
    stopped();
  } catch (error) {
    if (asked !== trial) return;
    failed.textContent = plain(error.message);
    failed.hidden = false;
  } finally {
    if (ordered === trial) ordered = null;
    if (asked === trial) now.disabled = false;
  }
}

export class StopButton {
  constructor(trial, kind) {
    this.trial = trial;
    this.element = h("button", { type: "button", class: "danger " + (kind || ""), title: "End the agent's turn and grade what there is", onclick: () => this.ask() }, "Stop");
  }

  ask() {
    if (!this.element.disabled) open(this, this.trial());
  }

  set({ phase, stopping }) {
    this.element.disabled = Boolean(stopping) || OVER.includes(phase);
    this.element.textContent = stopping ? "Stopping…" : "Stop";
    if (this.element.disabled) this.over();
  }

  over() {
    // Who has just asked for its end is told what comes of that.
    if (asker !== this || !dialog.element.open || ordered === asked) return;
    dialog.element.close();
    say("There is nothing to stop any more.");
  }
}
