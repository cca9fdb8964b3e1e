// What was said to a model and what came back, as a conversation where it is one. Bodies are those of many
// services; what is not understood is shown as JSON.
import { h, plain } from "./dom.js";
import { json, opening, text } from "./blocks.js";
import { counted } from "./format.js";

const PICTURE = /^data:image\/(png|jpeg|webp|gif);base64,[A-Za-z0-9+/=]+$/;
const LARGEST = 12e6;
const MOST = 400;

function picture(address) {
  if (typeof address !== "string" || address.length > LARGEST || !PICTURE.test(address)) return null;
  return h("img", { class: "said-picture", src: address, alt: "Picture that was sent", loading: "lazy" });
}

function part(piece) {
  if (typeof piece === "string") return text(piece);
  if (!piece || typeof piece !== "object") return json(piece);
  if (typeof piece.text === "string") return text(piece.text);
  if (typeof piece.thinking === "string") return h("div", { class: "said-thinking" }, text(piece.thinking));
  const url = typeof piece.image_url === "string" ? piece.image_url : piece.image_url && piece.image_url.url;
  const source = piece.source && piece.source.data ? "data:" + piece.source.media_type + ";base64," + piece.source.data : null;
  const inline = piece.inline_data || piece.inlineData;
  const other = inline ? "data:" + (inline.mime_type || inline.mimeType) + ";base64," + inline.data : null;
  const shown = picture(url) || picture(source) || picture(other);
  if (shown) return shown;
  if (piece.type === "tool_use" || piece.type === "function_call") return called(piece.name, piece.input ?? piece.arguments);
  if (piece.type === "tool_result") return h("div", {}, content(piece.content));
  return json(piece);
}

function content(value) {
  if (value === null || value === undefined) return [];
  return Array.isArray(value) ? value.slice(0, MOST).map(part) : [part(value)];
}

function called(name, given) {
  let args = given;
  if (typeof given === "string") {
    try {
      args = JSON.parse(given);
    } catch {
      args = given;
    }
  }
  return h("div", { class: "said-call" }, h("strong", {}, plain(name) + "()"), typeof args === "string" ? text(args) : json(args ?? {}));
}

function message(one) {
  if (!one || typeof one !== "object") return h("li", { class: "said" }, part(one));
  const role = plain(one.role || one.type || "");
  const calls = Array.isArray(one.tool_calls) ? one.tool_calls : [];
  const body = one.content !== undefined || one.parts !== undefined ? content(one.content ?? one.parts) : one.role ? [] : [part(one)];
  const known = ["system", "developer", "user", "assistant", "tool", "model"].includes(role) ? role : "other";
  return h("li", { class: "said said-" + known },
    h("div", { class: "said-role" }, role, one.name ? " " + plain(one.name) : null),
    one.reasoning_content ? h("div", { class: "said-thinking" }, text(one.reasoning_content)) : null,
    body,
    calls.map((call) => called(call.function ? call.function.name : call.name, call.function ? call.function.arguments : call.input)));
}

// Messages of a body, or nothing where it is no conversation.
function messages(body) {
  if (!body || typeof body !== "object") return null;
  const list = [];
  const system = body.system ?? body.instructions;
  if (system) list.push({ role: "system", content: system });
  if (typeof body.input === "string") list.push({ role: "user", content: body.input });
  for (const name of ["messages", "input", "contents", "output"]) {
    if (Array.isArray(body[name])) list.push(...body[name]);
  }
  if (Array.isArray(body.choices)) list.push(...body.choices.map((choice) => choice.message || { role: "assistant", content: choice.text }));
  if (Array.isArray(body.candidates)) list.push(...body.candidates.map((one) => one.content));
  if (!list.length && body.content !== undefined) list.push({ role: body.role || "assistant", content: body.content });
  if (!list.length && typeof body.text === "string") list.push({ role: "assistant", content: body.text });
  return list.length ? list : null;
}

// A conversation shows its end: that is what is new.
export function conversation(body) {
  const list = messages(body);
  if (!list) return json(body);
  const recent = list.length > 6 ? list.slice(-4) : list;
  const earlier = list.slice(0, list.length - recent.length);
  const tools = Array.isArray(body.tools) ? body.tools : [];
  return h("div", { class: "talk" },
    tools.length ? opening(counted(tools.length, "tool"), () => json(tools)) : null,
    earlier.length ? opening(counted(earlier.length, "earlier message"), () => h("ol", { class: "said-list" }, earlier.slice(-MOST).map(message))) : null,
    h("ol", { class: "said-list" }, recent.map(message)),
    opening("As JSON", () => json(body)));
}
