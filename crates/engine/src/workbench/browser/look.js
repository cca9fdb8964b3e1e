// What a page shows, as lines of text; elements that can be used have numbers. Runs in a world of its own:
// the page neither sees nor changes this. A number is never given twice. Expects `first`, the next number.
(first) => {
  const agon = (globalThis.agon ??= { next: first, numbers: new WeakMap(), elements: new Map() });
  agon.next = Math.max(agon.next, first);
  agon.elements.clear();
  const MOST = 2000, LONG = 200;
  const lines = [];
  let words = "";
  const short = (text) => {
    const one = String(text ?? "").replace(/\s+/g, " ").trim();
    return one.length > LONG ? one.slice(0, LONG) + "..." : one;
  };
  const say = (line) => { if (lines.length < MOST) lines.push(line); };
  const flush = () => {
    const text = short(words);
    words = "";
    if (text) say(JSON.stringify(text));
  };
  const ROLES = new Set(["button", "link", "checkbox", "radio", "tab", "menuitem", "menuitemcheckbox",
    "menuitemradio", "option", "switch", "textbox", "searchbox", "combobox", "listbox", "slider",
    "spinbutton", "treeitem", "gridcell"]);
  const INPUTS = { checkbox: "checkbox", radio: "radio", button: "button", submit: "button", reset: "button",
    image: "button", range: "slider", number: "spinbutton", search: "searchbox", file: "file" };
  const role = (e) => {
    const said = (e.getAttribute("role") || "").trim().toLowerCase();
    if (ROLES.has(said)) return said;
    switch (e.localName) {
      case "a": return e.hasAttribute("href") ? "link" : null;
      case "button": case "summary": return "button";
      case "select": return e.multiple ? "listbox" : "combobox";
      case "textarea": return "textbox";
      case "input": return e.type === "hidden" ? null : INPUTS[e.type] || "textbox";
    }
    if (e.isContentEditable && !e.parentElement?.isContentEditable) return "textbox";
    if (e.hasAttribute("onclick") || (e.hasAttribute("tabindex") && e.tabIndex >= 0)) return "clickable";
    return e.draggable && e.localName !== "img" ? "draggable" : null;
  };
  const name = (e) => {
    const by = (e.getAttribute("aria-labelledby") || "").split(/\s+/).filter(Boolean)
      .map((id) => e.getRootNode().getElementById?.(id)?.textContent || "").join(" ");
    const labels = e.labels ? [...e.labels].map((label) => label.innerText).join(" ") : "";
    const pressed = ["button", "submit", "reset"].includes(e.type) ? e.value : "";
    const own = /^(input|select|textarea)$/.test(e.localName) ? pressed : e.innerText;
    const picture = e.querySelector?.("img[alt]")?.alt;
    for (const some of [by, e.getAttribute("aria-label"), labels, own, picture, e.alt, e.placeholder, e.title,
      e.name]) {
      const text = short(some);
      if (text) return text;
    }
    return "";
  };
  const state = (e, kind) => {
    const all = [];
    if (kind === "checkbox" || kind === "radio" || kind === "switch")
      all.push(e.checked ?? e.getAttribute("aria-checked") === "true" ? "checked" : "unchecked");
    else if (e.localName === "select") {
      all.push("selected " + JSON.stringify([...e.selectedOptions].map((o) => short(o.label)).join(", ")));
      all.push("options " + JSON.stringify([...e.options].slice(0, 50).map((o) => short(o.label))));
    } else if (e.type === "password") all.push("value " + JSON.stringify("*".repeat(e.value.length)));
    else if ("value" in e && kind !== "button" && e.localName !== "li" && e.localName !== "button")
      all.push("value " + JSON.stringify(short(e.value)));
    else if (e.isContentEditable) all.push("value " + JSON.stringify(short(e.innerText)));
    if (e.disabled || e.getAttribute("aria-disabled") === "true") all.push("disabled");
    if (e.readOnly) all.push("read-only");
    if (e.hasAttribute("aria-expanded")) all.push(e.getAttribute("aria-expanded") === "true" ? "expanded" : "collapsed");
    if (e.getRootNode().activeElement === e) all.push("focused");
    return all.length ? " (" + all.join(", ") + ")" : "";
  };
  const shown = (e) => {
    const style = e.ownerDocument.defaultView?.getComputedStyle(e);
    return style && style.display !== "none";
  };
  const seen = (e) => {
    const style = e.ownerDocument.defaultView.getComputedStyle(e);
    const box = e.getBoundingClientRect();
    return style.visibility === "visible" && box.width > 0 && box.height > 0;
  };
  const walk = (node) => {
    if (lines.length >= MOST) return;
    if (node.nodeType === Node.TEXT_NODE) {
      const parent = node.parentElement;
      if (parent && node.ownerDocument.defaultView.getComputedStyle(parent).visibility === "visible")
        words += node.data;
      return;
    }
    if (node.nodeType !== Node.ELEMENT_NODE) return;
    const e = node;
    if (/^(script|style|noscript|template|head|option|datalist)$/.test(e.localName) || !shown(e)) return;
    if (e.getAttribute("aria-hidden") === "true" && !role(e)) return;
    const display = e.ownerDocument.defaultView.getComputedStyle(e).display;
    const block = !display.startsWith("inline") && display !== "contents";
    if (block || e.localName === "br") flush();
    const kind = role(e);
    if (kind && seen(e)) {
      flush();
      let number = agon.numbers.get(e);
      if (!number) agon.numbers.set(e, (number = agon.next++));
      agon.elements.set(number, e);
      say(`[${number}] ${kind} ${JSON.stringify(name(e))}${state(e, kind)}`);
      if (e.localName !== "select" && e.querySelector("a, button, input, select, textarea, [role], [tabindex]"))
        e.querySelectorAll("*").forEach((inner) => { if (role(inner) && near(inner, e)) walk(inner); });
    } else if (e.localName === "iframe" || e.localName === "frame") {
      const inner = e.contentDocument;
      if (inner?.body) walk(inner.body);
      else if (seen(e)) say(`frame of another site: ${JSON.stringify(short(e.src))}`);
    } else if (e.localName === "img" && seen(e)) {
      if (short(e.alt)) { flush(); say(`image ${JSON.stringify(short(e.alt))}`); }
    } else {
      const heading = /^h[1-6]$/.test(e.localName);
      const before = lines.length;
      for (const child of (e.shadowRoot || e).childNodes) walk(child);
      if (heading) {
        flush();
        if (lines.length > before) lines[before] = "heading " + lines[before];
      }
    }
    if (block) flush();
  };
  // Elements that can be used inside of one: those whose next such ancestor it is.
  const near = (inner, outer) => {
    for (let up = inner.parentElement; up && up !== outer; up = up.parentElement) if (role(up)) return false;
    return true;
  };
  if (document.body) walk(document.body);
  flush();
  const root = document.scrollingElement || document.documentElement;
  return {
    next: agon.next,
    url: location.href,
    title: short(document.title),
    lines,
    more: lines.length >= MOST,
    scroll: [Math.round(root?.scrollTop || 0), root?.scrollHeight || 0, innerHeight],
  };
}
