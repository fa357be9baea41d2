// What makes the pages livelier. Every page works without it; nothing here knows more than the pages say.
"use strict";

const $ = (selector, within = document) => within.querySelector(selector);
const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];

// --- light and dark ----------------------------------------------------------------------------------------------

const root = document.documentElement;
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
