// The page: two editors, the answers of Python beside them, links that carry a text, and everything by keyboard.

import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { HighlightStyle, StreamLanguage, bracketMatching, syntaxHighlighting } from "@codemirror/language";
import { json } from "@codemirror/legacy-modes/mode/javascript";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { Compartment, EditorState, Prec } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { marked } from "marked";
import { CONFIGS, EXAMPLES } from "./examples.js";
import { draw, moments, span, stateAt } from "./timeline.js";

const $ = (id) => document.getElementById(id);
const LOADING = "loading Python…";
let worker, waiting, asked = 0;

function say(text) {
  $("status").textContent = text;
}

/** Python in a worker; whoever stops it gets a new one. */
async function listen(to) {
  worker = to;
  waiting = new Map();
  say(LOADING);
  worker.onmessage = ({ data: { id, answer, error } }) => {
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    error === undefined ? resolve(answer) : reject(new Error(error));
  };
  try {
    await ask("ready");
    document.body.dataset.ready = Math.round(performance.now());
    if ($("status").textContent === LOADING) say("ready");
  } catch (error) {
    if (worker === to) say(`Python could not be loaded: ${error.message}`);
  }
}

function ask(what, given) {
  const id = ++asked;
  worker.postMessage({ id, ask: what, ...given });
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName), tags.keyword], color: "var(--accent)" },
  { tag: [tags.string, tags.number, tags.bool, tags.null], color: "var(--good)" },
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
]);

function editor(parent, label, language, keys, changed) {
  const compartment = new Compartment();
  const view = new EditorView({
    parent,
    state: EditorState.create({
      extensions: [
        lineNumbers(), history(), drawSelection(), highlightActiveLine(), bracketMatching(), EditorView.lineWrapping,
        syntaxHighlighting(colours), lintGutter(), compartment.of(language), Prec.high(keymap.of(keys)),
        keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap]),
        EditorView.contentAttributes.of({ "aria-label": label }),
        EditorView.updateListener.of((update) => update.docChanged && changed()),
        EditorView.theme({
          "&": { color: "var(--ink)", backgroundColor: "var(--paper)" },
          ".cm-gutters": { color: "var(--soft)", backgroundColor: "var(--panel)", border: "none" },
          ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--panel) 60%, transparent)" },
          ".cm-cursor": { borderLeftColor: "var(--ink)" },
          ".cm-tooltip": { color: "var(--ink)", backgroundColor: "var(--panel)", border: "1px solid var(--line)" },
          "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "color-mix(in srgb, var(--accent) 30%, transparent) !important" },
        }),
      ],
    }),
  });
  view.scrollDOM.tabIndex = 0; // it scrolls, and not every browser lets the text within take the keys
  const put = (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
  return { view, put, text: () => view.state.doc.toString(), speak: (other) => view.dispatch({ effects: compartment.reconfigure(other) }) };
}

// --- the linter

const LANGUAGES = { "wrangler.jsonc": StreamLanguage.define(json), "wrangler.toml": StreamLanguage.define(toml) };
const lintEditor = editor($("editor-lint"), "The wrangler file", LANGUAGES["wrangler.jsonc"], [], () => lint());
let findings = [], version = 0;

async function lint() {
  const mine = ++version, text = lintEditor.text(), from = performance.now();
  for (const each of [$("fix-safe"), ...$("findings").querySelectorAll("button.fix")]) each.disabled = true; // their places are of another text
  let answer;
  try {
    answer = await ask("lint", { text, path: $("file").value, plan: $("plan").value });
  } catch (error) {
    return say(`not linted: ${error.message.trim().split("\n").at(-1)}`);
  }
  document.body.dataset.lint = (performance.now() - from).toFixed(2);
  if (mine !== version) return;
  findings = answer;
  const marks = findings.map((each) => ({ from: each.from, to: Math.max(each.to, each.from), severity: each.severity, message: `${each.code} ${each.name}: ${each.message}` }));
  lintEditor.view.dispatch(setDiagnostics(lintEditor.view.state, marks));
  $("count").textContent = findings.length === 0 ? "No findings" : findings.length === 1 ? "1 finding" : `${findings.length} findings`;
  $("findings").replaceChildren(...findings.map(shown));
  $("fix-safe").disabled = !findings.some((each) => each.fix?.safe);
}

function element(name, properties, ...inner) {
  const node = Object.assign(document.createElement(name), properties);
  node.append(...inner);
  return node;
}

function shown(finding) {
  const where = element("button", { type: "button", className: "quiet where", textContent: `${finding.line}:${finding.column}` });
  where.setAttribute("aria-label", `Go to line ${finding.line}, column ${finding.column}`);
  where.onclick = () => {
    lintEditor.view.dispatch({ selection: { anchor: finding.from, head: Math.max(finding.to, finding.from) }, scrollIntoView: true });
    lintEditor.view.focus();
  };
  const rule = element("button", { type: "button", className: "quiet", textContent: `${finding.code} ${finding.name}` });
  rule.onclick = () => showRule(finding.code);
  const item = element("li", { className: finding.severity }, element("span", { className: "severity", textContent: `${finding.severity} ` }), rule, where, element("p", { textContent: finding.message }));
  if (finding.fix) {
    const fix = element("button", { type: "button", className: "fix", textContent: `Fix: ${finding.fix.title}${finding.fix.safe ? "" : " (may change the meaning)"}` });
    fix.onclick = () => change([finding]);
    item.append(fix);
  }
  return item;
}

/** Make the fixes of findings, as far as they do not touch each other; the rest waits for the next time. */
function change(several) {
  const changes = [];
  const touches = (a) => changes.some((b) => a.from === b.from || (a.from < b.to && b.from < a.to));
  for (const { fix } of several) if (!fix.changes.some(touches)) changes.push(...fix.changes);
  lintEditor.view.dispatch({ changes: changes.sort((a, b) => a.from - b.from) });
  lintEditor.view.focus();
}

async function showRule(code) {
  const page = $("rule");
  page.querySelector("div").innerHTML = marked.parse(await ask("rule", { code })).replaceAll("<pre>", '<pre tabindex="0">');
  page.hidden = false;
  page.focus();
}

$("close-rule").onclick = () => {
  $("rule").hidden = true;
  lintEditor.view.focus();
};

$("fix-safe").onclick = () => change(findings.filter((each) => each.fix?.safe));
$("plan").onchange = () => lint();
$("file").onchange = () => {
  const name = $("file").value, untouched = Object.values(CONFIGS).includes(lintEditor.text());
  lintEditor.speak(LANGUAGES[name]);
  untouched ? lintEditor.put(CONFIGS[name]) : lint();
};

// --- the emulator

const runKeys = [{ key: "Mod-Enter", run: () => (run(), true) }]; // Tab leaves the editor, Ctrl ] indents
const runEditor = editor($("editor-run"), "A consumer in Python", python(), runKeys, () => {});
for (const name of Object.keys(EXAMPLES)) $("example").append(element("option", { textContent: name }));
$("example").onchange = () => (runEditor.put(EXAMPLES[$("example").value]), run());

async function run() {
  $("run").disabled = true;
  $("stop").disabled = false;
  say("running…");
  try {
    drawn(await ask("run", { source: runEditor.text() }));
    say("ready");
  } catch (error) {
    said(error.message);
  }
  $("run").disabled = false;
  $("stop").disabled = true;
}

function said(text) {
  $("output").textContent = text;
  $("output").hidden = text === "";
}

function drawn(answer) {
  const more = answer.more ? `${answer.more} more steps are not drawn` : "";
  said([answer.printed.trimEnd(), answer.failed, ...answer.errors.map((each) => `the consumer raised ${each}`), more].filter(Boolean).join("\n"));
  $("trace").hidden = $("time").hidden = answer.steps.length === 0;
  $("trace").querySelector("pre").textContent = answer.trace;
  if (answer.steps.length === 0) {
    $("timeline").replaceChildren(element("p", { textContent: "No message was sent." }));
    return $("state").replaceChildren();
  }
  const box = $("timeline"), slider = $("slider");
  const times = moments(answer), drawing = draw(answer, box.clientWidth);
  box.replaceChildren(drawing.svg);
  // Under a drawing that needs no scrolling, the slider's thumb stands below the cursor.
  slider.style = drawing.fits && times.length > 1 ? `margin-left: calc(${drawing.left}px - .5rem); width: calc(${drawing.span}px + 1rem)` : "";
  slider.max = times.length - 1;
  slider.value = slider.max;
  slider.oninput = () => {
    const at = times[slider.value], x = drawing.show(Number(slider.value));
    const text = slider.value === "0" ? "at the start" : `${span(at - times[0])} after the start`;
    $("now").textContent = text;
    slider.setAttribute("aria-valuetext", text);
    if (x < box.scrollLeft + 160 || x > box.scrollLeft + box.clientWidth - 40) box.scrollLeft = x - box.clientWidth / 2;
    $("state").replaceChildren(table(answer, at));
  };
  slider.oninput();
}

function table(answer, at) {
  const row = (cell, ...texts) => element("tr", {}, ...texts.map((text) => element(cell, { textContent: text })));
  const queues = [...stateAt(answer, at)].map(([name, { waiting: idle, out }]) => row("td", name, idle.join(", ") || "–", out.join(", ") || "–"));
  return element("table", {}, element("thead", {}, row("th", "queue", "waiting", "with the consumer")), element("tbody", {}, ...queues));
}

$("run").onclick = run;
$("stop").onclick = () => {
  worker.terminate();
  for (const { reject } of waiting.values()) reject(new Error("stopped"));
  listen(window.startPython());
};

// --- tabs, links, offline

const TABS = ["lint", "run"];

function show(name) {
  for (const each of TABS) {
    const tab = $(`tab-${each}`), chosen = each === name;
    tab.setAttribute("aria-selected", chosen);
    tab.tabIndex = chosen ? 0 : -1;
    $(`panel-${each}`).hidden = !chosen;
  }
  if (name === "run" && $("timeline").childElementCount === 0 && !fromLink) run();
}

for (const name of TABS) {
  $(`tab-${name}`).onclick = () => show(name);
  $(`tab-${name}`).onkeydown = (event) => {
    if (!["ArrowLeft", "ArrowRight"].includes(event.key)) return;
    const other = TABS[1 - TABS.indexOf(name)];
    show(other);
    $(`tab-${other}`).focus();
  };
}

async function packed(text, Stream, bytes) {
  const stream = new Blob([bytes ?? new TextEncoder().encode(text)]).stream().pipeThrough(new Stream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function link(tab, text, more = {}) {
  const bytes = await packed(text, CompressionStream);
  const code = btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  history_.replaceState(null, "", `#${new URLSearchParams({ tab, ...more, text: code })}`);
  const copied = await navigator.clipboard?.writeText(location.href).then(() => ", and copied", () => "");
  say(`the link is in the address${copied ?? ""}`);
}

const history_ = window.history;
$("share-lint").onclick = () => link("lint", lintEditor.text(), { file: $("file").value, plan: $("plan").value });
$("share-run").onclick = () => link("run", runEditor.text());

/** What a link carries. A consumer from a link is shown, and run only when its reader says so. */
async function linked() {
  const given = new URLSearchParams(location.hash.slice(1)), code = given.get("text");
  if (code === null) return null;
  try {
    const bytes = Uint8Array.from(atob(code.replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0));
    return { tab: given.get("tab"), file: given.get("file"), plan: given.get("plan") ?? "", text: new TextDecoder().decode(await packed("", DecompressionStream, bytes)) };
  } catch {
    say("the link carries no text that can be read");
    return null;
  }
}

let fromLink = false;

/** Show what the address carries, else what the page starts with. */
async function follow() {
  const given = await linked();
  fromLink = given?.tab === "run";
  if (given?.tab === "lint" && given.file in CONFIGS) {
    $("file").value = given.file;
    $("plan").value = given.plan;
    lintEditor.speak(LANGUAGES[given.file]);
  }
  if (fromLink || runEditor.text() === "") runEditor.put(fromLink ? given.text : EXAMPLES[$("example").value]);
  if (given?.tab === "lint" || lintEditor.text() === "") lintEditor.put(given?.tab === "lint" ? given.text : CONFIGS[$("file").value]);
  show(fromLink ? "run" : "lint");
}

listen(window.python);
follow();
addEventListener("hashchange", follow); // somebody puts another link into the address
if ("serviceWorker" in navigator) navigator.serviceWorker.register("offline.js");
