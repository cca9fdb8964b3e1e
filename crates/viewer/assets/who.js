// Who is in front of the page, for what is recorded with a name. Asked for once; a name may stay empty, but only
// on purpose.
//
// known()  the name that was given, or null if nobody was asked yet.   offered()  one to begin with.
// remember(name)   asked() -> Promise of the name, or of null if the question was put away.
import { h, keep, kept } from "./dom.js";

const NAME = "agon-reviewer";

// Where nothing can be kept it holds for this page.
let given = null;
let dialog = null;

export function known() {
  return kept(NAME, given);
}

export function remember(name) {
  given = name;
  keep(NAME, name);
}

export function offered() {
  const user = document.querySelector('meta[name="agon-user"]');
  return known() ?? (user ? user.content : "");
}

function build() {
  const name = h("input", { id: "who-name", type: "text", maxlength: "100", autocomplete: "name", form: "who-form", autofocus: true });
  const put = h("button", { type: "button", id: "who-away", onclick: () => element.close("") }, "Record nothing");
  const element = h("dialog", { id: "who", "aria-labelledby": "who-title" },
    h("h2", { id: "who-title" }, "Who says so?"),
    h("p", { class: "note" }, "A verdict is recorded with a name. It is asked for once, and can be changed below the comment; it may stay empty."),
    h("p", { class: "stop-by" }, h("label", { for: "who-name" }, "Your name"), name),
    h("form", { method: "dialog", id: "who-form" }, put, h("button", { type: "submit", id: "who-record", value: "record", class: "primary" }, "Record")));
  document.body.append(element);
  return { element, name };
}

export function asked() {
  if (known() !== null) return Promise.resolve(known());
  dialog = dialog || build();
  const { element, name } = dialog;
  name.value = offered();
  element.returnValue = "";
  element.showModal();
  name.select();
  return new Promise((resolve) => {
    element.addEventListener("close", () => {
      if (element.returnValue !== "record") return resolve(null);
      remember(name.value.trim());
      resolve(known());
    }, { once: true });
  });
}
