// Draws what happened to messages: a row a message, and time not to scale, so that a second and four days can both be seen.

const NS = "http://www.w3.org/2000/svg";
const ROW = 44, TOP = 30, RIGHT = 110, BOX = 20, LABEL = 18, LETTER = 7.2;
const GAP = { min: 72, max: 200 };
const ENTERS = new Set(["sent", "arrived", "redriven from"]);
const OUT = new Set(["delivered", "leased"]);
const ENDS = new Set(["acked", "dead-lettered", "dropped", "expired", "purged", "redriven"]);

/** Each message's own steps, in order, with its number of attempts where it has one. */
export function histories(run) {
  const found = new Map();
  for (const step of run.steps)
    step.ids.forEach((id, place) => {
      if (!found.has(id)) found.set(id, { id, body: run.bodies[id] ?? "", steps: [] });
      found.get(id).steps.push({ ...step, value: step.values[place] });
    });
  return [...found.values()];
}

/** The moments at which anything happened, in microseconds, in order. */
export const moments = (run) => [...new Set([...run.steps.map((step) => step.at), run.until])].sort((a, b) => a - b);

/** A span of microseconds for people. */
export function span(us) {
  const seconds = us / 1e6;
  for (const [unit, length, smaller, part] of [["d", 86400, "h", 3600], ["h", 3600, "min", 60], ["min", 60, "s", 1]])
    if (seconds >= length) {
      const rest = Math.floor((seconds % length) / part);
      return `${Math.floor(seconds / length)} ${unit}${rest ? ` ${rest} ${smaller}` : ""}`;
    }
  return seconds >= 1 || seconds === 0 ? `${+seconds.toFixed(3)} s` : `${+(seconds * 1000).toFixed(3)} ms`;
}

function make(name, attributes, ...inner) {
  const node = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...inner);
  return node;
}

const label = ({ body, id }) => (body.length > LABEL ? `${body.slice(0, LABEL - 1)}…` : body || id.slice(0, 8));

/** The drawing for a box of a width, in pixels; `show(moment number)` moves its cursor. */
export function draw(run, box) {
  const times = moments(run), rows = histories(run);
  const left = 16 + LETTER * Math.max(...rows.map((row) => label(row).length));
  const gap = Math.max(GAP.min, Math.min(GAP.max, (box - left - RIGHT) / Math.max(1, times.length - 1)));
  const x = new Map(times.map((at, number) => [at, left + gap * number]));
  const across = gap * (times.length - 1), width = left + across + RIGHT, height = TOP + ROW * rows.length + 12;
  const said = `${rows.length} messages over ${span(times.at(-1) - times[0])}`;
  const svg = make("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": said });
  times.forEach((at, number) => {
    svg.append(make("line", { class: "grid", x1: x.get(at), x2: x.get(at), y1: TOP - 8, y2: height }));
    const gone = number ? at - times[number - 1] : 0;
    if (gone) svg.append(make("text", { class: "soft", x: x.get(at) - gap / 2 + BOX / 2, y: 16, "text-anchor": "middle" }, `+${span(gone)}`));
  });
  rows.forEach((row, number) => svg.append(drawRow(row, TOP + ROW * number + ROW / 2, x, run.until)));
  const cursor = make("line", { class: "cursor", y1: 20, y2: height });
  svg.append(cursor);
  const show = (number) => {
    const at = times[number];
    cursor.setAttribute("x1", x.get(at));
    cursor.setAttribute("x2", x.get(at));
    for (const mark of svg.querySelectorAll("[data-at]")) mark.classList.toggle("later", Number(mark.dataset.at) > at);
    return x.get(at);
  };
  return { svg, show, left, span: across, fits: width <= box + 1 };
}

function drawRow(row, y, x, until) {
  const group = make("g", {});
  group.append(make("text", { x: 6, y: y + 4 }, label(row)));
  let since = null, out = null, back = false, free = 0;
  const wait = (to) => {
    if (since === null || to <= since) return;
    const from = Math.max(x.get(since), free);
    group.append(make("line", { class: "wait", "data-at": since, x1: from, x2: x.get(to), y1: y, y2: y }));
  };
  for (const step of row.steps) {
    if (ENTERS.has(step.kind)) {
      // What arrives from another queue does so at the moment at which it left that one: its line begins behind the box.
      back = since !== null || out !== null || step.kind !== "sent";
      since = step.at;
      group.append(make("text", { class: "soft", "data-at": step.at, x: x.get(step.at) + (back ? BOX + 24 : 0), y: y - 14 }, step.queue));
    } else if (OUT.has(step.kind)) {
      wait(step.at);
      since = null;
      out = step;
    } else if (out !== null && step.kind !== "lease extended") {
      free = flight(group, out, step, y, x);
      since = ENDS.has(step.kind) ? null : step.at;
      out = null;
      back = true;
    } else if (ENDS.has(step.kind)) {
      wait(step.at);
      since = null;
    }
    if (ENDS.has(step.kind)) {
      // Behind the box of an attempt, else at the moment itself.
      const at = free > x.get(step.at) ? free + 4 : x.get(step.at) - 7;
      end(group, step, y, at);
      free = at + 14;
    }
  }
  if (out !== null) flight(group, out, null, y, x, until);
  wait(until);
  return group;
}

function flight(group, out, step, y, x, until) {
  const from = x.get(out.at), to = Math.max(from + BOX, x.get(step?.at ?? until)), failed = step === null || step.kind !== "acked";
  const told = `attempt ${out.value}${out.batch === null ? "" : `, batch ${out.batch}`}: ${step?.kind ?? "still out"}${step?.error ? `: ${step.error}` : ""}`;
  group.append(
    make("rect", { class: failed ? "flight failed" : "flight", "data-at": out.at, x: from, y: y - 10, width: to - from, height: 20, rx: 4 }, make("title", {}, told)),
    make("text", { class: "attempt", "data-at": out.at, x: from + 6, y: y + 4 }, String(out.value)),
  );
  return to;
}

function end(group, step, y, at) {
  const title = make("title", {}, `${step.kind}${step.other ? ` to ${step.other}` : ""}${step.error ? `: ${step.error}` : ""}`);
  group.append(
    step.kind === "acked"
      ? make("circle", { class: "acked", "data-at": step.at, cx: at + 6, cy: y, r: 6 }, title)
      : make("path", { class: "lost", "data-at": step.at, d: `M${at} ${y} l7 -7 l7 7 l-7 7 z` }, title),
  );
}

/** What is where at a moment: by queue, the messages that wait there and those that are out. */
export function stateAt(run, at) {
  const where = new Map();
  for (const step of run.steps) {
    if (step.at > at) break;
    step.ids.forEach((id, place) => {
      if (ENTERS.has(step.kind)) where.set(id, { queue: step.queue, out: false });
      else if (OUT.has(step.kind)) where.set(id, { queue: step.queue, out: true, attempt: step.values[place] });
      else if (ENDS.has(step.kind)) { if (where.get(id)?.queue === step.queue) where.delete(id); }
      else if (step.kind !== "lease extended") where.set(id, { queue: step.queue, out: false });
    });
  }
  const queues = new Map(run.queues.map((name) => [name, { waiting: [], out: [] }]));
  for (const [id, { queue, out, attempt }] of where) {
    if (!queues.has(queue)) queues.set(queue, { waiting: [], out: [] });
    queues.get(queue)[out ? "out" : "waiting"].push(`${run.bodies[id] ?? id.slice(0, 8)}${out ? ` (attempt ${attempt})` : ""}`);
  }
  return queues;
}
