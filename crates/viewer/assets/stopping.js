// Ends a trial that is being played, after asking once more.
import { h, plain } from "./dom.js";
import { post } from "./source.js";

function kept() {
  try {
    return window.localStorage.getItem("agon-reviewer") || "";
  } catch {
    return "";
  }
}

// A button that asks and then orders the end; `head()` is the trial.
export function stopButton(head) {
  const button = h("button", { type: "button", class: "danger small-button", title: "End the agent's turn and grade what there is" }, "Stop");
  button.addEventListener("click", () => ask(head(), button));
  return button;
}

function ask(head, button) {
  const by = h("input", { type: "text", id: "stop-by", maxlength: "100", value: kept() });
  const failed = h("p", { class: "problem", role: "alert", hidden: true });
  const now = h("button", { type: "button", class: "danger" }, "Stop this trial");
  const dialog = h("dialog", { "aria-labelledby": "stop-title" },
    h("h2", { id: "stop-title" }, "Stop this trial?"),
    h("p", {}, plain(head.task.name) + " is ended and graded as it stands. It is recorded that an operator did so."),
    h("p", {}, h("label", { for: "stop-by" }, "Your name "), by), failed,
    h("form", { method: "dialog" }, h("button", {}, "Let it run"), now));
  now.addEventListener("click", async () => {
    now.disabled = true;
    try {
      await post("/runs/" + encodeURIComponent(head.run) + "/stop", { trial: head.key, by: by.value.trim() });
      button.disabled = true;
      button.textContent = "Stopping…";
      dialog.close();
    } catch (error) {
      failed.textContent = plain(error.message);
      failed.hidden = false;
      now.disabled = false;
    }
  });
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
