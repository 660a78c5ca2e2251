// Elements of the page. Text from the cluster becomes text nodes, never markup.

export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

// Rows of cells; a cell is text, a number, a node, or a list of them. `caption` names the table for screen readers.
export function table(caption, headings, rows) {
  const head = el("tr", {}, headings.map((heading) => el("th", { scope: "col" }, heading)));
  const body = rows.map((cells) => el("tr", {}, cells.map(cell)));
  return el("div", { class: "wide" }, el("table", { "aria-label": caption }, el("thead", {}, head), el("tbody", {}, body)));
}

function cell(content) {
  const isNumber = typeof content === "number";
  return el("td", { class: isNumber ? "number" : null }, isNumber ? round(content) : content === "" ? "–" : content);
}

export function facts(pairs) {
  const shown = pairs.filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return el("dl", {}, shown.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value instanceof Node ? value : String(value))]));
}

export function section(title, ...content) {
  return el("section", { "aria-label": title }, el("h2", {}, title), content);
}

export function state(service) {
  const mark = service.reached ? "✓ " : "✗ ";
  return el("span", { class: `state ${service.reached ? "good" : "bad"}` }, mark + service.reason);
}

export function round(number) {
  return Number.isInteger(number) ? number.toLocaleString("en") : number.toLocaleString("en", { maximumSignificantDigits: 3 });
}

export function span(seconds) {
  if (seconds === null || seconds === undefined) return "";
  if (seconds < 100) return `${Math.round(seconds)} s`;
  if (seconds < 6000) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} d`;
}

export function clock(seconds) {
  return new Date(seconds * 1000).toLocaleTimeString("en-GB");
}
