// What is shown: functions from the server's data to elements. `data-do` names what a button does; app.js does it.

import { bytes, count, h, moment, plural, span, when } from "./dom.js";
import { figure, spark } from "./plot.js";

export const RANGES = [[300, "5 minutes"], [3_600, "1 hour"], [86_400, "1 day"], [1_209_600, "14 days"], [316_224_000, "Everything"]];
const ORDERS = [["name", "Name"], ["depth", "Depth, most first"], ["age", "Age, oldest first"]];

export const link = {
  home: "#/",
  queue: (core) => `#/queue/${encodeURIComponent(core)}`,
  message: (id) => `#/message/${encodeURIComponent(id)}`,
};

const tile = (name, value, bad = false) => h("div", { class: bad ? "bad" : null }, h("dt", {}, name), h("dd", {}, value));

const options = (rows, chosen) => rows.map(([value, text]) => h("option", { value, selected: String(value) === String(chosen) }, text));

const select = (id, text, rows, chosen) => h("label", { for: id }, text, h("select", { id, "data-set": id }, options(rows, chosen)));

const age = (row, now) => (row.oldest === null ? "–" : span(now - row.oldest));

function tags(row) {
  const consumer = row.consumer === null ? "no consumer" : row.consumer === "http_pull" ? "pull" : "push";
  return [
    row.paused ? h("span", { class: "tag warn" }, "paused") : null,
    row.sources.length ? h("span", { class: "tag wrap" }, `dead letters of ${row.sources.join(", ")}`) : null,
    row.consumer !== null && !row.ready ? h("span", { class: "tag bad" }, "push, no handler") : h("span", { class: row.ready ? "tag good" : "tag" }, consumer),
  ];
}

/** What moves the clock; nothing where the server does not allow it. */
export function clock(data) {
  if (!data.control) return null;
  const step = (seconds, text, label) => h("button", { type: "button", "data-do": "advance", "data-seconds": seconds, "aria-label": label }, text);
  return h(
    "section",
    { class: "card", "aria-labelledby": "clock-title", "data-key": "clock" },
    h("h2", { id: "clock-title" }, "Virtual time"),
    h(
      "div",
      { class: "row" },
      h(
        "div",
        { class: "buttons start" },
        step(1, "+1 s", "Advance one second"),
        step(60, "+1 min", "Advance one minute"),
        step(3_600, "+1 h", "Advance one hour"),
        step(86_400, "+1 day", "Advance one day"),
      ),
      h(
        "form",
        { "data-form": "advance" },
        h("label", { for: "seconds" }, "Seconds", h("input", { id: "seconds", class: "short", type: "number", min: 0, step: "any", value: 10, required: true })),
        h("button", { type: "submit" }, "Advance"),
      ),
      h("button", { type: "button", "data-do": "idle" }, "Run until idle"),
    ),
    h("p", { class: "note" }, "Time stands still until you move it. Everything due on the way happens, each at its own moment."),
  );
}

export function overview(data, chosen) {
  const { totals } = data;
  return [
    h("h1", { "data-key": "title" }, "Queues"),
    h(
      "dl",
      { class: "tiles", "data-key": "tiles" },
      tile("Queues", count(totals.queues)),
      tile("Messages", count(totals.depth)),
      tile("Size", bytes(totals.bytes)),
      tile("Oldest message", age(totals, data.now)),
      tile("In dead-letter queues", count(totals.dead), totals.dead > 0),
      tile("Billable operations", count(totals.operations)),
    ),
    clock(data),
    h(
      "section",
      { class: "card", "aria-label": "All queues", "data-key": "queues" },
      h(
        "div",
        { class: "row" },
        h("label", { for: "name" }, "Name contains", h("input", { id: "name", type: "search", "data-set": "name", autocomplete: "off", spellcheck: "false" })),
        select("order", "In order of", ORDERS, chosen.order),
        select("seconds-back", "Plots go back", RANGES, chosen.seconds),
        h(
          "form",
          { class: "push", "data-form": "find" },
          h("label", { for: "id" }, "Message id", h("input", { id: "id", type: "search", class: "mono", autocomplete: "off", spellcheck: "false", required: true })),
          h("button", { type: "submit" }, "Show its timeline"),
        ),
      ),
      data.queues.length ? table(data, chosen) : nothing(data, chosen),
      pages(data),
    ),
    ...(data.faults.length ? [faults(data.faults)] : []),
  ];
}

function faults(rows) {
  const cells = (row) => [h("td", {}, row.fault), h("td", { class: "number" }, String(row.chance)), h("td", { class: "number" }, count(row.acted))];
  return h(
    "section",
    { class: "card", "aria-label": "Faults", "data-key": "faults" },
    h("h2", {}, "Faults"),
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Fault"), h("th", { scope: "col", class: "number" }, "Chance"), h("th", { scope: "col", class: "number" }, "Acted"))),
      h("tbody", {}, rows.map((row) => h("tr", {}, cells(row)))),
    ),
  );
}

function nothing(data, chosen) {
  if (chosen.name) return h("p", { class: "empty" }, `No queue's name contains “${chosen.name}”.`);
  return h("div", { class: "empty" }, h("p", {}, "There are no queues yet."), h("p", {}, "Create one, for example with ", h("code", {}, "wrangler queues create jobs"), "."));
}

const COLUMNS = [
  ["Queue"], ["State"], ["Depth", true], ["Depth over time"], ["Oldest", true], ["Size", true], ["Retries", true],
  ["Dead-lettered", true], ["Dropped, expired", true],
];

function table(data, chosen) {
  return h(
    "div",
    { class: "scroll" },
    h(
      "table",
      { class: "queues", role: "table" },
      h("caption", {}, data.matching === 1 ? "1 queue" : data.pages > 1 ? `${count(data.matching)} queues, page ${data.page} of ${data.pages}` : `${count(data.matching)} queues`),
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, COLUMNS.map(([name, number]) => h("th", { scope: "col", role: "columnheader", class: number ? "number" : null }, name)))),
      h("tbody", { role: "rowgroup" }, data.queues.map((row) => line(row, data, chosen))),
    ),
  );
}

function line(row, data, chosen) {
  const { counts } = row;
  const cell = (place, text, kind = "") => h("td", { role: "cell", class: `number ${kind}`.trim(), "data-label": COLUMNS[place][0] }, text);
  const number = (place, value, bad = false) => cell(place, count(value), value === 0 ? "zero" : bad ? "bad" : "");
  return h(
    "tr",
    { role: "row", "data-key": row.core },
    h("th", { scope: "row", role: "rowheader" }, h("a", { href: link.queue(row.core) }, row.name)),
    h("td", { role: "cell", "data-label": "State" }, h("span", { class: "title" }, tags(row))),
    number(2, row.depth, row.sources.length > 0),
    h("td", { role: "cell", "data-label": "Depth over time" }, spark(row.spark, data.now, chosen.seconds)),
    cell(4, age(row, data.now)),
    cell(5, bytes(row.bytes), row.bytes ? "" : "zero"),
    number(6, counts.retried),
    number(7, counts.dead_lettered, true),
    number(8, counts.dropped + counts.expired, true),
  );
}

function pages(data) {
  if (data.pages === 1) return null;
  return h(
    "nav",
    { class: "pages", "aria-label": "Pages of queues" },
    h("button", { type: "button", "data-do": "page", "data-page": data.page - 1, disabled: data.page === 1 }, "Previous"),
    h("span", {}, `Page ${data.page} of ${data.pages}`),
    h("button", { type: "button", "data-do": "page", "data-page": data.page + 1, disabled: data.page === data.pages }, "Next"),
  );
}

const facts = (title, rows) => h(
  "section",
  { class: "card" },
  h("h2", {}, title),
  h("dl", { class: "facts" }, rows.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
);

export function queue(data, held, chosen, width) {
  const { counts, settings } = data;
  const isDead = data.sources.length > 0;
  const button = (action, text, kind = null) => h("button", { type: "button", class: kind, "data-do": action, "data-core": data.core, "data-name": data.name, "data-depth": data.depth }, text);
  return [
    h("a", { class: "back", href: link.home, "data-key": "back" }, "← All queues"),
    h("div", { class: "title", "data-key": "title" }, h("h1", {}, data.name), tags(data)),
    h(
      "div",
      { class: "row", "data-key": "actions" },
      h(
        "div",
        { class: "buttons start", role: "group", "aria-label": `What can be done with ${data.name}` },
        data.paused ? button("resume", "Resume delivery", "primary") : button("pause", "Pause delivery"),
        isDead || held.messages.some((each) => each.dead) ? button("redrive", "Redrive…") : null,
        button("purge", "Purge…", "danger"),
      ),
      h("div", { class: "push" }, select("seconds-back", "Plots go back", RANGES, chosen.seconds)),
    ),
    h(
      "dl",
      { class: "tiles", "data-key": "tiles" },
      tile("Depth", count(data.depth), isDead && data.depth > 0),
      tile("Oldest message", age(data, data.now)),
      tile("Size", bytes(data.bytes)),
      tile("In a consumer's hands", count(data.in_flight)),
    ),
    clock(data),
    h("div", { class: "pair", "data-key": "plots" }, figure("depth", "Depth", data, chosen.seconds, width), figure("age", "Age of the oldest message", data, chosen.seconds, width)),
    data.plotted ? null : h("p", { class: "note", "data-key": "unplotted" }, "Only the first thousand queues have a history."),
    letters(data, held, isDead, chosen.full),
    h(
      "div",
      { class: "triple", "data-key": "facts" },
      facts("What became of messages", [
        ["Sent", count(counts.sent)], ["Arrived from other queues", count(counts.received)], ["Deliveries", count(counts.delivered)],
        ["Acknowledged", count(counts.acked)], ["Retries", count(counts.retried)], ["Dead-lettered", count(counts.dead_lettered)],
        ["Dropped", count(counts.dropped)], ["Expired", count(counts.expired)], ["Purged", count(counts.purged)],
        ["Redriven", count(counts.redriven)],
      ]),
      retries(data),
      facts("Settings", [
        ["Delivery delay", span(settings.delivery_delay * 1000)], ["Retention", span(settings.message_retention_period * 1000)],
        ["Jurisdiction", settings.jurisdiction ?? "global"], ...consumer(data),
      ]),
    ),
  ];
}

function consumer(data) {
  const set = data.consumer_settings;
  if (set === null) return [["Consumer", "none: messages are kept"]];
  const target = set.dead_letter_queue ? h("a", { href: link.queue(data.target) }, set.dead_letter_queue) : "none: dropped";
  const shared = [["Retries at most", count(set.max_retries)], ["Retry delay", span(set.retry_delay * 1000)], ["Dead-letter queue", target]];
  if (set.type === "http_pull") return [["Consumer", "pulls over HTTP"], ["Visibility timeout", span(set.visibility_timeout_ms)], ...shared];
  const batch = [["Batch", `${plural(set.max_batch_size, "message")} or ${span(set.max_batch_timeout * 1000)}`], ["Concurrency", set.max_concurrency ?? "automatic"]];
  return [["Consumer", "is pushed to"], ...batch, ...shared];
}

function retries(data) {
  const rows = Object.entries(data.retries);
  const most = Math.max(1, ...rows.map(([, number]) => number));
  const bars = rows.map(([attempt, number]) => [
    h("dt", {}, `after attempt ${attempt}`),
    h("dd", {}, h("meter", { min: 0, max: most, value: number, "aria-label": `Retries after attempt ${attempt}` }), h("span", {}, count(number))),
  ]);
  const total = Object.values(data.operations).reduce((sum, number) => sum + number, 0);
  return h(
    "section",
    { class: "card" },
    h("h2", {}, "Retries by attempt"),
    rows.length ? h("dl", { class: "bars" }, bars) : h("p", { class: "note" }, "None since counting began."),
    h("p", { class: "note" }, `${plural(total, "billable operation")} since counting began`, total ? `: ${Object.entries(data.operations).filter(([, number]) => number).map(([kind, number]) => `${count(number)} ${kind}`).join(", ")}.` : "."),
  );
}

function letters(data, held, isDead, full) {
  const title = isDead ? "Dead letters" : "Messages";
  const last = held.offset + held.messages.length;
  return h(
    "section",
    { class: "card", "aria-labelledby": "letters-title", "data-key": "letters" },
    h("h2", { id: "letters-title" }, title),
    held.total === 0
      ? h("p", { class: "empty" }, isDead ? "No dead letters: every message was dealt with." : "The queue is empty.")
      : held.messages.length === 0 ? h("p", { class: "empty" }, "Nothing is left here.") : h("ol", { class: "letters", start: held.offset + 1 }, held.messages.map((each) => letter(full.has(each.id) ? { ...each, body: full.get(each.id), cut: false } : each, data))),
    held.total > held.messages.length
      ? h(
        "nav",
        { class: "pages", "aria-label": `Pages of ${title.toLowerCase()}` },
        h("button", { type: "button", "data-do": "offset", "data-step": -1, disabled: held.offset === 0 }, "Previous"),
        h("span", {}, held.messages.length ? `${count(held.offset + 1)} to ${count(last)} of ${count(held.total)}` : `none of ${count(held.total)}`),
        h("button", { type: "button", "data-do": "offset", "data-step": 1, disabled: last >= held.total }, "Next"),
      )
      : null,
  );
}

const STATES = { ready: "good", delayed: "warn", delivered: "", leased: "" };

function letter(each, data) {
  const { origin } = each;
  const kind = each.type === "json" ? "JSON" : each.type;
  return h(
    "li",
    { "data-key": each.id },
    h("p", { class: "title" }, h("a", { class: "mono", href: link.message(each.id) }, each.id), h("span", { class: `tag ${STATES[each.state]}`.trim() }, each.state)),
    h(
      "p",
      { class: "meta" },
      `Sent `, when(each.sent), ` · ${plural(each.attempts, "attempt")} · ${kind}, ${bytes(each.bytes)}`,
      each.state === "delayed" ? [" · ready at ", when(each.ready)] : null,
    ),
    origin ? h("p", { class: "meta" }, `From ${origin.source} at `, when(origin.at), ` after ${plural(origin.attempts, "attempt")}`, origin.error ? [": ", h("span", { class: "why" }, origin.error)] : null) : null,
    h("pre", { tabindex: 0, role: "region", "aria-label": `Body of message ${each.id.slice(0, 8)}`, dir: "auto" }, each.body + (each.cut ? " …" : "")),
    each.cut ? h("p", {}, h("button", { type: "button", "data-do": "whole", "data-core": data.core, "data-id": each.id }, "Show the whole body")) : null,
  );
}

const LOOKS = [[/^acked, but/, "warn"], [/^acked/, "good"], [/^(dead-lettered|dropped|expired|purged)/, "bad"], [/^(retried|lease lapsed)/, "warn"]];

export function message(data) {
  const first = data.lines[0].at;
  const held = data.held.map((each) => h("a", { href: link.queue(each.core) }, each.name));
  return [
    h("a", { class: "back", href: link.home, "data-key": "back" }, "← All queues"),
    h("h1", { "data-key": "title" }, "Message ", h("span", { class: "mono" }, data.id)),
    h(
      "dl",
      { class: "tiles", "data-key": "tiles" },
      tile("Sent", data.now === first ? "now" : `${span(data.now - first)} ago`),
      tile("Is in", held.length ? held : "no queue"),
      tile("Attempts", count(Math.max(...data.lines.map((each) => each.attempt)))),
      tile("Body", `${data.type}, ${bytes(data.bytes)}`),
    ),
    h(
      "div",
      { class: "pair", "data-key": "both" },
      h(
        "section",
        { class: "card", "aria-labelledby": "line-title" },
        h("h2", { id: "line-title" }, "Timeline"),
        h("ol", { class: "line" }, data.lines.map((each) => step(each, first))),
      ),
      h("section", { class: "card", "aria-labelledby": "body-title" }, h("h2", { id: "body-title" }, "Body"), h("pre", { tabindex: 0, role: "group", "aria-labelledby": "body-title", dir: "auto" }, data.body)),
    ),
  ];
}

function step(each, first) {
  const look = LOOKS.find(([words]) => words.test(each.what))?.[1] ?? "";
  const what = each.what.replace(/\d{4}-\d\d-\d\dT[\d:.]+\+00:00/g, (iso) => moment(Date.parse(iso)));
  return h(
    "li",
    { class: look || null },
    h("p", { class: "what" }, what),
    h("p", { class: "meta" }, when(each.at), ` · +${span(each.at - first)} · `, h("a", { href: link.queue(each.core) }, each.queue), each.attempt ? ` · attempt ${each.attempt}` : ""),
  );
}

export const gone = (text) => [
  h("a", { class: "back", href: link.home, "data-key": "back" }, "← All queues"),
  h("h1", { "data-key": "title" }, "Not found"),
  h("p", { class: "card", "data-key": "gone" }, text),
];
