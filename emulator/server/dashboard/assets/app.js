// The page at work: where it is, what it asks for, when, and what its buttons do.

import { Failed, act, get, move, useToken } from "./api.js";
import { count, h, moment, morphChildren, plural } from "./dom.js";
import { across, reading } from "./plot.js";
import { gone, link, message, overview, queue } from "./views.js";

const $ = (id) => document.getElementById(id);
const EVERY = 2_000;
const chosen = { name: "", order: "name", page: 1, seconds: null, offset: 0, full: new Map() };
let data = null;
let timer = 0;
let still = false;
let turn = 0;
let loggingIn = null;

// --- where we are

function place() {
  const [, kind, ...rest] = location.hash.split("/");
  try {
    return { kind: kind || "home", key: decodeURIComponent(rest.join("/")) };
  } catch {
    return { kind: "home", key: "" };
  }
}

async function load(here) {
  if (here.kind === "message") {
    const found = await get.timeline(here.key);
    return { data: found, show: () => message(found), title: `Message ${here.key.slice(0, 8)}` };
  }
  const seconds = chosen.seconds ?? 300;
  if (here.kind === "queue") {
    const [found, held] = await Promise.all([get.queue(here.key, seconds), get.messages(here.key, chosen.offset)]);
    return { data: found, show: (width) => queue(found, held, { ...chosen, seconds }, width), title: found.name };
  }
  const found = await get.overview(chosen.page, chosen.name, chosen.order, seconds);
  chosen.page = found.page;
  return { data: found, show: () => overview(found, { ...chosen, seconds }), title: "Queues" };
}

// --- showing

const plotWidth = () => {
  const svg = document.querySelector(".plot");
  if (svg) return Math.max(260, Math.round(svg.getBoundingClientRect().width));
  const room = $("main").clientWidth - 48;
  return Math.max(260, room > 880 ? room / 2 - 60 : room - 40);
};

function show(loaded) {
  const { now, clock } = loaded.data;
  if (now !== undefined) {
    $("now").textContent = `${moment(now)} UTC`;
    $("now").setAttribute("datetime", new Date(now).toISOString());
  }
  if (clock !== undefined) $("mode").textContent = clock === "real" ? "real time" : clock === "virtual" ? "virtual time" : `${clock} time`;
  document.title = `${loaded.title} · cfq-emulator`;
  const before = plotWidth();
  paint(loaded.show(before));
  if (document.querySelector(".plot") && plotWidth() !== before) paint(loaded.show(plotWidth()));
}

const paint = (elements) => morphChildren($("main"), elements.filter((each) => each !== null));

function trouble(text) {
  document.body.classList.toggle("stale", text !== "");
  if ($("alert").textContent !== text) $("alert").textContent = text;
}

let sayTimer = 0;
function say(text) {
  clearTimeout(sayTimer);
  $("said").textContent = text;
  sayTimer = setTimeout(() => { $("said").textContent = ""; }, 8_000);
}

/** Ask, show, and ask again in a while. What a later turn has overtaken is thrown away. */
async function refresh() {
  clearTimeout(timer);
  turn += 1;
  const mine = turn;
  try {
    let loaded = await load(place());
    if (mine !== turn) return;
    if (chosen.seconds === null && loaded.data.clock !== undefined) {
      chosen.seconds = loaded.data.clock === "virtual" ? 316_224_000 : 300;
      if (chosen.seconds !== 300) loaded = await load(place());
      if (mine !== turn) return;
    }
    data = loaded.data;
    current = loaded;
    show(loaded);
    trouble("");
  } catch (error) {
    if (mine !== turn) return;
    failed(error);
  }
  if (!still && loggingIn === null) timer = setTimeout(() => (document.hidden ? wait() : refresh()), EVERY);
}

let current = null;
const wait = () => { document.addEventListener("visibilitychange", () => refresh(), { once: true }); };

function failed(error) {
  if (!(error instanceof Failed)) throw error;
  if (error.status === 401) return void login();
  if (error.status === 404) {
    trouble("");
    paint(gone(place().kind === "message" ? "No message of this id was ever sent, or its queue's history is no longer kept." : error.message));
    return;
  }
  trouble(error.status === 0 ? `${error.message} Trying again every two seconds; what you see is from before.` : error.message);
}

// --- asking people

function login() {
  if (loggingIn !== null) return;
  loggingIn = true;
  $("login-token").value = "";
  if ($("login-text").dataset.tried) $("login-text").textContent = "The server does not know this token. Is it one of those that it was started with?";
  $("login").showModal();
}

$("login").addEventListener("cancel", (event) => event.preventDefault());
$("login-form").addEventListener("submit", (event) => {
  event.preventDefault();
  useToken($("login-token").value.trim());
  $("login-text").dataset.tried = "yes";
  $("login-token").value = "";
  loggingIn = null;
  $("login").close();
  refresh();
});

/** A question before what cannot be undone. Gives null for no, else the choice made, or "" where there was none. */
function confirm(title, text, yes, kind, choices = []) {
  $("confirm-title").textContent = title;
  $("confirm-text").textContent = text;
  $("confirm-yes").textContent = yes;
  $("confirm-yes").className = kind;
  $("confirm-choice").hidden = choices.length === 0;
  $("confirm-target").replaceChildren(...choices.map(([value, name]) => h("option", { value }, name)));
  const dialog = $("confirm");
  dialog.returnValue = "";
  dialog.showModal();
  $("confirm-no").focus();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes" ? $("confirm-target").value : null), { once: true });
  });
}

$("confirm-form").addEventListener("submit", (event) => {
  event.preventDefault();
  $("confirm").close("yes");
});
$("confirm-no").addEventListener("click", () => $("confirm").close("no"));

// --- doing

const doing = {
  async pause({ core, name }) {
    await act(core, "pause");
    return `${name} is paused: it takes messages and delivers none.`;
  },
  async resume({ core, name }) {
    await act(core, "resume");
    return `${name} delivers again.`;
  },
  async purge({ core, name, depth }) {
    const answer = await confirm(`Purge ${name}?`, `${plural(Number(depth), "message")} will be deleted for good.`, "Purge", "danger");
    if (answer === null) return null;
    const { purged } = await act(core, "purge");
    return `${plural(purged, "message")} purged from ${name}.`;
  },
  async redrive({ core, name }) {
    const targets = (data.sources ?? []).map((source) => [source, source]);
    const answer = await confirm(`Redrive ${name}?`, "Dead letters go back to the queue they came from, with their bodies, and their attempts start anew.", "Redrive", "primary", [["", "where each came from"], ...targets]);
    if (answer === null) return null;
    const done = await act(core, "redrive", answer === "" ? {} : { target: answer });
    const rest = done.left ? ` ${plural(done.left, "stays", "stay")}: ${done.refused}.` : "";
    return `${plural(done.moved, "message")} redriven from ${name}.${rest}`;
  },
  async advance({ seconds }) {
    const { now } = await move({ seconds: Number(seconds) });
    return `It is now ${moment(now)} UTC.`;
  },
  async idle() {
    const { now } = await move({ until_idle: true });
    return `Nothing more is due; it is ${moment(now)} UTC.`;
  },
  async page({ page }) {
    chosen.page = Number(page);
    return null;
  },
  async offset({ step }) {
    chosen.offset = Math.max(0, chosen.offset + Number(step) * 25);
    return null;
  },
};

async function perform(name, given, button) {
  document.body.setAttribute("aria-busy", "true");
  try {
    const text = await doing[name](given, button);
    if (text) say(text);
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    if (error.status === 401) login();
    else say(error.status === 403 ? `Not allowed: ${error.message}. This token may only look.` : `That failed: ${error.message}`);
  } finally {
    document.body.removeAttribute("aria-busy");
  }
  await refresh();
}

async function wholeBody(button) {
  const { core, id } = button.dataset;
  try {
    const found = await get.message(core, id);
    chosen.full.set(id, found.body);
    const pre = button.closest("li").querySelector("pre");
    show(current);
    pre.focus();
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    say(error.status === 404 ? "The message has left the queue." : error.message);
  }
}

function hold(on) {
  still = on;
  $("live").setAttribute("aria-pressed", String(on));
  if (!on) refresh();
  else clearTimeout(timer);
}

// --- listening

$("live").addEventListener("click", () => hold(!still));
$("skip").addEventListener("click", (event) => {
  event.preventDefault();
  $("main").focus();
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-do]");
  if (!button) return;
  if (button.dataset.do === "whole") wholeBody(button);
  else perform(button.dataset.do, { ...button.dataset }, button);
});

document.addEventListener("submit", (event) => {
  const { form } = event.target.dataset;
  if (!form) return;
  event.preventDefault();
  if (form === "find") location.hash = link.message($("id").value.trim());
  else perform("advance", { seconds: $("seconds").value });
});

document.addEventListener("input", (event) => {
  if (event.target.id !== "name") return;
  chosen.name = event.target.value.trim();
  chosen.page = 1;
  clearTimeout(timer);
  timer = setTimeout(refresh, 200);
});

document.addEventListener("change", (event) => {
  const set = event.target.dataset?.set;
  if (set === "order") chosen.order = event.target.value;
  else if (set === "seconds-back") chosen.seconds = Number(event.target.value);
  else return;
  chosen.page = 1;
  refresh();
});

document.addEventListener("pointermove", (event) => {
  const svg = event.target.closest?.(".plot");
  if (!svg || !data?.points) return;
  const { share, left, span } = across(svg, event.clientX);
  const [start, end] = [Number(svg.dataset.start), Number(svg.dataset.end)];
  const cross = svg.querySelector(".cross");
  cross.setAttribute("x1", left + share * span);
  cross.setAttribute("x2", left + share * span);
  cross.setAttribute("visibility", "visible");
  svg.closest("figure").querySelector("[data-reading]").textContent = reading(data.points, svg.dataset.plot, start + share * (end - start));
});

window.addEventListener("hashchange", () => {
  chosen.offset = 0;
  chosen.full.clear();
  $("main").replaceChildren();
  window.scrollTo(0, 0);
  refresh().then(() => $("main").focus({ preventScroll: true }));
});

let resizeTimer = 0;
window.addEventListener("resize", () => {
  clearTimeout(resizeTimer);
  resizeTimer = setTimeout(() => current && show(current), 100);
});

// --- light and dark

const dark = window.matchMedia("(prefers-color-scheme: dark)");
function theme() {
  const wanted = $("theme").value;
  document.documentElement.dataset.theme = wanted === "auto" ? (dark.matches ? "dark" : "light") : wanted;
}
$("theme").addEventListener("change", theme);
dark.addEventListener("change", theme);
theme();

refresh();
