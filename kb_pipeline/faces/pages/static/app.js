// What makes the pages livelier. Every page works without it; nothing here knows more than the pages say.
"use strict";

const $ = (selector, within = document) => within.querySelector(selector);
const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];

// --- light and dark ----------------------------------------------------------------------------------------------

const root = document.documentElement;
root.classList.add("lively");
const saved = localStorage.getItem("theme");
if (saved) root.dataset.theme = saved;
const switcher = $(".theme");
if (switcher) {
  switcher.hidden = false;
  switcher.addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    localStorage.setItem("theme", root.dataset.theme);
  });
}

// --- search as you type ------------------------------------------------------------------------------------------

const form = $(".box");
const input = $("#q");
const results = $("#results");
let asked = null;

async function look() {
  const words = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
  if (asked) asked.abort();
  if (input.value.trim().length < 2) {
    if (location.pathname === "/") results.replaceChildren();
    return;
  }
  asked = new AbortController();
  try {
    const reply = await fetch(`/search?${words}&part=1`, { signal: asked.signal });
    if (reply.ok) {
      results.innerHTML = await reply.text();
      history.replaceState(null, "", `/search?${words}`);
      $(".start")?.remove();
      $("#answer")?.remove();
    }
  } catch (error) {
    if (error.name !== "AbortError") throw error;
  }
}

if (form && results) {
  let waiting = 0;
  const soon = () => {
    clearTimeout(waiting);
    waiting = setTimeout(look, 140);
  };
  input.addEventListener("input", soon);
  $$("select", form).forEach((select) => select.addEventListener("change", look));
  input.setSelectionRange?.(input.value.length, input.value.length);
}

// --- answers as they come -------------------------------------------------------------------------------------------

const answer = $("#answer");
if (answer) {
  const heading = document.createElement("h2");
  heading.className = "dots";
  heading.textContent = "Looking it up";
  answer.replaceChildren(heading);
  answer.setAttribute("aria-busy", "true");
  const events = new EventSource(answer.dataset.events);
  const done = () => {
    events.close();
    answer.setAttribute("aria-busy", "false");
  };
  events.addEventListener("sentence", (event) => {
    const said = document.createElement("p");
    said.className = "said";
    said.textContent = event.data;
    answer.append(said);
  });
  events.addEventListener("answer", (event) => {
    answer.innerHTML = event.data;
    answer.classList.toggle("silent", !$(".said", answer));
    done();
  });
  events.addEventListener("error", () => {
    heading.className = "";
    heading.textContent = "The connection was lost";
    done();
  });
}

// --- a compile as it goes -----------------------------------------------------------------------------------------------

const compile = $("#compile");
if (compile) {
  const heading = $("h2", compile);
  const steps = document.createElement("ul");
  steps.className = "steps";
  compile.append(steps);
  heading.textContent = "Compiling";
  heading.className = "dots";
  const events = new EventSource(compile.dataset.events);
  const finish = (words) => {
    heading.className = "";
    heading.textContent = words;
    events.close();
  };
  const tell = (words, kind) => {
    const line = document.createElement("p");
    line.className = kind;
    line.textContent = words;
    compile.append(line);
  };
  const rows = new Map();
  events.addEventListener("stage", (event) => {
    const { stage, source, done, total } = JSON.parse(event.data);
    const name = [stage.replace("_", " "), source].filter(Boolean).join(" ");
    if (!rows.has(name)) {
      const row = document.createElement("li");
      const bar = document.createElement("progress");
      bar.setAttribute("aria-label", name);
      row.append(document.createElement("span"), bar, document.createElement("span"));
      row.firstChild.textContent = name;
      steps.append(row);
      rows.set(name, row);
    }
    const [, bar, count] = rows.get(name).children;
    bar.max = Math.max(total, 1);
    bar.value = total ? done : 1;
    count.textContent = `${done} / ${total}`;
  });
  events.addEventListener("waiting", (event) => tell(`Waiting for ${JSON.parse(event.data).holder}`, "small"));
  events.addEventListener("failed", (event) => tell(JSON.parse(event.data).why, "notice"));
  events.addEventListener("done", (event) => {
    const { live, seconds, failed } = JSON.parse(event.data);
    failed.forEach((why) => tell(why, "notice"));
    tell(`Live as ${live}, after ${seconds.toFixed(1)} s`, "ok");
  });
  events.addEventListener("end", () => finish("Compiled"));
  events.addEventListener("error", () => finish("The connection was lost"));
}

const drop = $("#drop");
if (drop) {
  const files = $("#files", drop);
  ["dragover", "dragleave", "drop"].forEach((kind) =>
    drop.addEventListener(kind, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", kind === "dragover");
      if (kind === "drop") files.files = event.dataTransfer.files;
    }),
  );
}

// --- keys ----------------------------------------------------------------------------------------------------------

document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input, textarea, select");
  if (event.key === "/" && !typing && input) {
    event.preventDefault();
    input.focus();
    input.select();
    return;
  }
  if ((event.key !== "ArrowDown" && event.key !== "ArrowUp") || (typing && event.target !== input)) return;
  const stops = $$(".hit .main");
  if (!stops.length) return;
  const here = stops.indexOf(document.activeElement);
  const next = event.key === "ArrowDown" ? here + 1 : here - 1;
  event.preventDefault();
  if (next < 0) input?.focus();
  else stops[Math.min(next, stops.length - 1)].focus();
});

// --- items in a document -------------------------------------------------------------------------------------------

function light(place, on) {
  $$(`[data-place="${place}"]`).forEach((element) => element.classList.toggle("lit", on));
}
$$(".document [data-place]").forEach((element) => {
  element.addEventListener("pointerenter", () => light(element.dataset.place, true));
  element.addEventListener("pointerleave", () => light(element.dataset.place, false));
});
