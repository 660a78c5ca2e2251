// Which view is shown, and its data every few seconds while the page is looked at.

import { listView } from "./list.js";
import { serviceView } from "./service.js";
import { clock } from "./parts.js";
import { signInView } from "./sign-in.js";
import { keep, token } from "./token.js";

const SECONDS = 3;
const main = document.getElementById("main");
const trouble = document.getElementById("trouble");
let shown = "", asked = 0, timer = 0;
const search = { wanted: "", unready: false, page: 0 };

function look(changes) {
  Object.assign(search, { page: 0 }, changes);
  update();
}

function route() {
  const [namespace, name] = location.hash.replace(/^#\/?/, "").split("/").map(decoded);
  return { namespace, name };
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function source(service) {
  if (service.name) return `api/services/${encodeURIComponent(service.namespace)}/${encodeURIComponent(service.name)}`;
  return `api/services?${new URLSearchParams({ namespace: service.namespace, wanted: search.wanted, unready: search.unready ? "1" : "0", page: search.page })}`;
}

async function update() {
  clearTimeout(timer);
  const service = route(), mine = ++asked;
  const answer = await ask(source(service));
  if (mine !== asked) return;
  if (answer.unknown) return signIn(answer.unknown);
  if (answer.problem) say(answer.problem);
  if (answer.data) show(service, answer.data);
  if (!document.hidden) timer = setTimeout(update, SECONDS * 1000);
}

async function ask(path) {
  try {
    const response = await fetch(path, { headers: token() ? { Authorization: `Bearer ${token()}` } : {} });
    const data = await response.json();
    if (response.status === 401) return { unknown: data.message };
    return response.ok ? { data, problem: worry(data) } : { problem: data.message };
  } catch {
    return { problem: "What serves this page has ended, or does not answer. If it was `llmservice ui`, start it again." };
  }
}

function worry(data) {
  if (data.problem) return `${data.problem}${data.listedAt ? `; what is shown is of ${clock(data.listedAt)}` : ""}`;
  if (data.operator?.state === "Away") return data.operator.message;
  trouble.hidden = true;
  return "";
}

// The page of a cluster knows nobody by itself. Somebody who is not known sees nothing of what was shown before.
function signIn(message) {
  const wasGiven = token() !== "";
  keep("");
  shown = "";
  trouble.hidden = true;
  document.getElementById("out").hidden = true;
  for (const id of ["asof", "operator", "scope"]) document.getElementById(id).textContent = "";
  signInView(main, wasGiven ? "The cluster does not know this token, or not any more." : message, (given) => {
    keep(given);
    main.replaceChildren();
    update();
  });
}

function say(text) {
  if (trouble.textContent !== text) trouble.textContent = text;
  trouble.hidden = false;
}

function show(service, data) {
  const { now, listedAt, ...rest } = data;
  document.getElementById("out").hidden = token() === "";
  if (!service.name) document.getElementById("home").href = `#/${data.shared ? encodeURIComponent(data.namespace) : ""}`;
  document.getElementById("asof").textContent = listedAt ? `as of ${clock(listedAt)}` : "";
  document.getElementById("operator").textContent = data.operator?.state === "Away" ? "" : data.operator?.message ?? "";
  if (!service.name) document.getElementById("scope").textContent = data.namespace || "all namespaces";
  const moving = data.points?.length ? Math.floor(now / 10) : "";
  const key = JSON.stringify([location.hash, ages(rest), moving]);
  if (key === shown) return;
  shown = key;
  const held = document.activeElement?.id;
  if (service.name) serviceView(main, data);
  else listView(main, data, search, look);
  document.title = service.name ? `${service.namespace}/${service.name}` : "LLMServices";
  if (held && held !== "main") document.getElementById(held)?.focus();
}

// Ages move with every answer: a view is drawn again for them twice a minute only.
function ages(data) {
  return JSON.stringify(data, (name, value) => (name === "age" || name === "ageSeconds" ? Math.floor(value / 30) : value));
}

document.getElementById("out").addEventListener("click", () => {
  keep("");
  main.replaceChildren();
  update();
});
addEventListener("hashchange", () => {
  main.replaceChildren();
  shown = "";
  update().then(() => main.querySelector("h1")?.focus());
});
document.addEventListener("visibilitychange", () => document.hidden || update());
update();
