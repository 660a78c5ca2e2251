// All services: those that need a look first, a page at a time.

import { el, round, state, table } from "./parts.js";

const DELAY = 250;
let typing = 0;

// `search` is what is looked for now; `look` changes a part of it.
export function listView(main, data, search, look) {
  if (!main.querySelector("#rows")) main.replaceChildren(el("h1", { tabindex: -1 }, "Services"), data.shared ? chooser(data) : "", form(search, look), el("p", { id: "count", role: "status" }), el("div", { id: "rows" }));
  document.getElementById("count").textContent = counted(data);
  document.getElementById("rows").replaceChildren(rows(data), pages(data, look));
}

function counted(data) {
  if (!data.listedAt) return "Nothing was read yet.";
  if (!data.total) return "No LLMServices here; apply one with kubectl, or name another namespace.";
  const all = `${round(data.total)} ${data.total === 1 ? "service" : "services"}, ${round(data.unready)} not ready`;
  return data.found === data.total ? `${all}.` : `${all}; ${round(data.found)} found.`;
}

function form(search, look) {
  const wanted = el("input", { type: "search", id: "wanted", value: search.wanted, placeholder: "name, model, engine, reason", "aria-label": "Find services", autocomplete: "off", input: (event) => typed(event.target.value, look) });
  const unready = el("input", { type: "checkbox", id: "unready", checked: search.unready, change: (event) => look({ unready: event.target.checked }) });
  return el("form", { role: "search", submit: (event) => event.preventDefault() }, wanted, el("label", {}, unready, " only those that are not ready"));
}

// By the rights of whoever looks there may be one namespace only, and nobody can tell which.
function chooser(data) {
  const named = el("input", { type: "text", id: "namespace", value: data.namespace, placeholder: "all namespaces", "aria-label": "Namespace", autocomplete: "off", spellcheck: "false" });
  const go = (event) => {
    event.preventDefault();
    location.hash = `#/${encodeURIComponent(named.value.trim())}`;
  };
  return el("form", { submit: go }, named, el("button", { id: "go" }, "Show"));
}

function typed(wanted, look) {
  clearTimeout(typing);
  typing = setTimeout(() => look({ wanted }), DELAY);
}

function rows(data) {
  const lines = data.rows.map((service) => [link(service), [state(service), service.reached ? "" : el("div", { class: "said" }, service.message)], service.replicas, service.engine, service.model]);
  return data.rows.length ? table("Services", ["Service", "State", "Replicas", "Engine", "Model"], lines) : el("p", {}, data.total ? "Nothing found." : "");
}

function link(service) {
  const name = `${service.namespace}/${service.name}`;
  return el("a", { id: `to-${name}`, href: `#/${encodeURIComponent(service.namespace)}/${encodeURIComponent(service.name)}` }, name);
}

function pages(data, look) {
  if (data.pages === 1) return "";
  const turn = (by) => () => look({ page: data.page + by });
  return el("nav", { "aria-label": "Pages" }, el("button", { id: "before", click: turn(-1), disabled: data.page === 0 }, "Previous"), ` page ${data.page + 1} of ${data.pages} `, el("button", { id: "after", click: turn(1), disabled: data.page + 1 === data.pages }, "Next"));
}
