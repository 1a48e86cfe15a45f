// Elements from data, and data in words. Text is only ever put in as text: nothing here parses HTML.

const SVG = "http://www.w3.org/2000/svg";
const DRAWN = new Set(["svg", "path", "line", "g", "text", "rect"]);

/** An element: `h("p", {class: "note"}, "text", child)`. An attribute that is null or false is left out; so is such a child. */
export function h(tag, attributes = {}, ...children) {
  const element = DRAWN.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Make `old` look like `fresh`, and leave alone what is the same: focus, selection, scrolling, what is open. */
export function morph(old, fresh) {
  if (old.nodeName !== fresh.nodeName || old.nodeType !== fresh.nodeType) {
    old.replaceWith(fresh);
    return;
  }
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && !(name === "open" && old.nodeName === "DETAILS")) old.removeAttribute(name);
  }
  for (const { name, value } of [...fresh.attributes]) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  morphChildren(old, [...fresh.childNodes]);
}

/** Make the children of an element look like these. Those with a `data-key` are found again wherever they stand. */
export function morphChildren(parent, fresh) {
  const focused = document.activeElement;
  const keyed = new Map();
  for (const child of parent.children) if (child.dataset.key) keyed.set(child.dataset.key, child);
  fresh.forEach((child, place) => {
    const here = parent.childNodes[place];
    const key = child.nodeType === Node.ELEMENT_NODE ? child.dataset.key : undefined;
    const found = key ? keyed.get(key) : here;
    if (found === undefined || (!key && found.nodeType === Node.ELEMENT_NODE && found.dataset.key)) {
      parent.insertBefore(child, here ?? null);
    } else {
      if (found !== here) parent.insertBefore(found, here ?? null);
      morph(found, child);
    }
  });
  while (parent.childNodes.length > fresh.length) parent.lastChild.remove();
  if (focused !== document.activeElement && focused?.isConnected) focused.focus({ preventScroll: true });
}

const whole = new Intl.NumberFormat("en-US");

export const count = (number) => whole.format(number);

const few = (number) => String(Number(number < 10 ? number.toFixed(1) : Math.round(number)));

export function bytes(size) {
  for (const [unit, factor] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]]) if (size >= factor) return `${few(size / factor)} ${unit}`;
  return `${size} B`;
}

/** A span of milliseconds in its two largest units. */
export function span(ms) {
  if (ms <= 0) return "0 s";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${few(ms / 1000)} s`;
  let seconds = Math.round(ms / 1000);
  const parts = [];
  for (const [unit, length] of [["d", 86_400], ["h", 3_600], ["min", 60], ["s", 1]]) {
    const number = Math.floor(seconds / length);
    seconds -= number * length;
    if (number > 0) parts.push(`${number} ${unit}`);
    else if (parts.length) break;
    if (parts.length === 2) break;
  }
  return parts.join(" ");
}

/** A moment in UTC, with milliseconds only where there are any. */
export function moment(ms) {
  const text = new Date(ms).toISOString().replace("T", " ").replace("Z", "");
  return text.endsWith(".000") ? text.slice(0, -4) : text;
}

export const plural = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

export const when = (ms) => h("time", { datetime: new Date(ms).toISOString() }, moment(ms));
