// A line between two columns that can be moved: by dragging, or by the arrow keys.
import { h, keep, kept } from "./dom.js";

// `options`: {column, frame, side: "left" or "right", property, least, most (share of the frame), label}. The
// width of `column` is set as a custom property of `frame`.
export function splitter(options) {
  const { column, frame, side, property, least, label } = options;
  const name = "agon" + property;
  const line = h("div", { class: "splitter " + side, role: "separator", "aria-orientation": "vertical", "aria-label": label, tabindex: "0" });
  const most = () => Math.max(least, frame.clientWidth * options.most);
  const set = (width) => {
    const fits = Math.max(least, Math.min(most(), width));
    frame.style.setProperty(property, fits + "px");
    line.setAttribute("aria-valuenow", String(Math.round(fits)));
    line.setAttribute("aria-valuemin", String(least));
    line.setAttribute("aria-valuemax", String(Math.round(most())));
    return fits;
  };
  const move = (width) => keep(name, String(Math.round(set(width))));
  const sign = side === "left" ? 1 : -1;
  let from = null;
  line.addEventListener("pointerdown", (event) => {
    from = { x: event.clientX, width: column.clientWidth };
    line.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  line.addEventListener("pointermove", (event) => {
    if (from) move(from.width + sign * (event.clientX - from.x));
  });
  const end = () => (from = null);
  line.addEventListener("pointerup", end);
  line.addEventListener("pointercancel", end);
  line.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -24, ArrowRight: 24 }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    move(column.clientWidth + sign * by);
  });
  line.addEventListener("dblclick", () => {
    frame.style.removeProperty(property);
    keep(name, "0");
  });
  column.append(line);
  line.setAttribute("aria-valuenow", String(column.clientWidth));
  const chosen = Number(kept(name)) || 0;
  if (chosen) set(chosen);
}
