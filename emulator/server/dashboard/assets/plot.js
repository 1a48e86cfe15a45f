// Depth and age over time, drawn as SVG. A point is [at, depth, highest depth, when the oldest was sent or 0], in milliseconds.

import { count, h, moment, span } from "./dom.js";

const HEIGHT = 208;
const EDGE = { left: 58, right: 10, top: 10, bottom: 26 };
const SECOND = 1000;
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 432000, 864000, 2592000, 7776000];

/** The steps of an axis from 0 to `top`: about four. */
function ticks(top, kind) {
  const wanted = top / 4;
  if (kind === "age" && top > 4 * SECOND) {
    const step = (STEPS.find((seconds) => seconds * SECOND >= wanted) ?? Math.ceil(wanted / 31_536_000_000) * 31_536_000) * SECOND;
    return upTo(top, step);
  }
  const power = 10 ** Math.floor(Math.log10(wanted || 1));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= wanted);
  return upTo(top, kind === "depth" ? Math.max(1, step) : step);
}

function upTo(top, step) {
  const steps = [];
  for (let value = 0; value < top + step; value += step) steps.push(value);
  return steps;
}

/** Corners of the line: depth holds until it changes; age grows until a message goes. */
function corners(points, kind, start, end) {
  const line = [];
  points.forEach((point, place) => {
    const [at, depth, highest, oldest] = point;
    const next = place + 1 < points.length ? points[place + 1][0] : end;
    if (next < start) return;
    const from = Math.max(at, start);
    if (kind === "depth") {
      if (highest > depth) line.push([from, highest]);
      line.push([from, depth], [next, depth]);
    } else if (oldest) line.push([from, from - oldest], [next, next - oldest]);
    else line.push([from, 0], [next, 0]);
  });
  return line;
}

export function domain(points, now, seconds) {
  const first = points.length ? points[0][0] : now;
  const start = Math.max(now - seconds * SECOND, seconds > 86400 * 400 ? first : -Infinity);
  return [start === now ? now - 10 * SECOND : start, now];
}

const path = (line, x, y) => line.map(([at, value], place) => `${place ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join("");

function timeTicks(start, end, width) {
  const wanted = (end - start) / SECOND / Math.max(2, Math.floor(width / 130));
  const step = (STEPS.find((seconds) => seconds >= wanted) ?? 7776000) * SECOND;
  const found = [];
  for (let at = Math.ceil(start / step) * step; at <= end; at += step) found.push(at);
  return found.map((at) => [at, step >= 86400 * SECOND ? moment(at).slice(5, 10) : step >= 60 * SECOND && end - start > 86400 * SECOND ? moment(at).slice(5, 16) : moment(at).slice(11, step >= 60 * SECOND ? 16 : 19)]);
}

/** A plot with its caption, a reading under the pointer, and the same in a table. */
export function figure(kind, title, data, seconds, width) {
  const [start, end] = domain(data.points, data.now, seconds);
  const line = corners(data.points, kind, start, end);
  const highest = line.reduce((most, [, value]) => Math.max(most, value), kind === "depth" ? 4 : 4 * SECOND);
  const marks = ticks(highest, kind);
  const top = marks.at(-1);
  const x = (at) => EDGE.left + ((at - start) / (end - start)) * (width - EDGE.left - EDGE.right);
  const y = (value) => EDGE.top + (1 - value / top) * (HEIGHT - EDGE.top - EDGE.bottom);
  const say = kind === "depth" ? count : span;
  const floor = y(0);
  const most = line.reduce((found, [, value]) => Math.max(found, value), 0);
  const last = line.length ? line.at(-1)[1] : 0;
  const summary = line.length
    ? `${title} from ${moment(start)} to ${moment(end)} UTC: now ${say(last)}, at most ${say(most)}.`
    : `${title}: nothing has been seen yet.`;
  const svg = h(
    "svg",
    { class: `plot ${kind}`, viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": summary, "data-start": start, "data-end": end, "data-plot": kind },
    marks.map((value) => [
      h("line", { class: value ? "grid" : "axis", x1: EDGE.left, x2: width - EDGE.right, y1: y(value), y2: y(value) }),
      h("text", { x: EDGE.left - 8, y: y(value) + 4, "text-anchor": "end" }, value === 0 ? "0" : say(value)),
    ]),
    timeTicks(start, end, width).map(([at, text]) => [
      h("line", { class: "axis", x1: x(at), x2: x(at), y1: floor, y2: floor + 4 }),
      h("text", { x: x(at), y: HEIGHT - 6, "text-anchor": x(at) > width - 34 ? "end" : x(at) < EDGE.left + 20 ? "start" : "middle" }, text),
    ]),
    line.length ? h("path", { class: "area", d: `${path(line, x, y)}L${x(line.at(-1)[0])} ${floor}L${x(line[0][0])} ${floor}Z` }) : null,
    line.length ? h("path", { class: "curve", d: path(line, x, y) }) : null,
    h("line", { class: "cross", x1: 0, x2: 0, y1: EDGE.top, y2: floor, visibility: "hidden" }),
  );
  return h(
    "figure",
    { class: "card", "data-key": kind },
    h("figcaption", { class: "over" }, h("h2", {}, title), h("p", { class: "reading", "data-reading": kind }, `now ${say(last)} · at most ${say(most)}`)),
    svg,
    table(kind, title, data.points, data.now, say),
  );
}

function table(kind, title, points, now, say) {
  const rows = points.slice(-200).reverse();
  return h(
    "details",
    {},
    h("summary", {}, `${title} as a table`),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `${title} as a table` }, h(
      "table",
      {},
      h("caption", {}, rows.length < points.length ? `The last ${rows.length} of ${points.length} changes` : "Every change that is kept"),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "When (UTC)"), h("th", { scope: "col", class: "number" }, title))),
      h("tbody", {}, rows.map(([at, depth, , oldest]) => h(
        "tr",
        {},
        h("td", {}, moment(at)),
        h("td", { class: "number" }, say(kind === "depth" ? depth : oldest ? at - oldest : 0)),
      ))),
    )),
  );
}

/** What the line says at the place of the pointer. */
export function reading(points, kind, at) {
  const before = points.filter((point) => point[0] <= at).at(-1);
  if (!before) return `${moment(Math.round(at / 1000) * 1000)}: not seen`;
  const value = kind === "depth" ? count(before[1]) : span(before[3] ? at - before[3] : 0);
  return `${moment(Math.round(at / 1000) * 1000)}: ${value}`;
}

export const across = (svg, clientX) => {
  const box = svg.getBoundingClientRect();
  const share = (clientX - box.left - EDGE.left) / (box.width - EDGE.left - EDGE.right);
  return { share: Math.min(1, Math.max(0, share)), left: EDGE.left, span: box.width - EDGE.left - EDGE.right };
};

/** A small line without axes, for a row of a table. Points are [at, depth, highest depth]. */
export function spark(points, now, seconds) {
  const width = 112;
  const height = 28;
  const [start, end] = domain(points, now, seconds);
  const top = Math.max(1, ...points.map(([, , highest]) => highest));
  const line = corners(points.map((point) => [...point, 0]), "depth", start, end);
  const x = (at) => ((at - start) / (end - start)) * width;
  const y = (value) => 2 + (1 - value / top) * (height - 4);
  if (!line.length || line[0][0] === end) return h("span", { class: "tag" }, "no history yet");
  const text = `at most ${count(Math.max(...line.map(([, value]) => value)))}`;
  return h(
    "svg",
    { class: "spark", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": text, preserveAspectRatio: "none" },
    h("path", { class: "area", d: `${path(line, x, y)}L${x(line.at(-1)[0])} ${height}L${x(line[0][0])} ${height}Z` }),
    h("path", { class: "curve", d: path(line, x, y) }),
  );
}
