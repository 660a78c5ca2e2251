// Charts as SVG, each with a sentence that says the same.

import { clock, el, round, span } from "./parts.js";

const SPACE = "http://www.w3.org/2000/svg";
const WIDTH = 900, HEIGHT = 180, LEFT = 30, BOTTOM = 22, TOP = 10;
const LEAST_SECONDS = 60;

function svg(name, attributes, ...children) {
  const element = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

function picture(width, height, sentence, ...children) {
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": sentence }, ...children);
}

// Points are [seconds since 1970, desired, ready, decided or null], each valid until the next.
export function replicasChart(points, now) {
  const lines = [["desired", 1], ["ready", 2], ["decided", 3]].filter(([, at]) => points.some((point) => point[at] !== null));
  const first = points[0][0], begin = Math.min(first, now - LEAST_SECONDS);
  const most = Math.max(1, ...points.flatMap((point) => point.slice(1)));
  const x = (time) => LEFT + ((time - begin) / (now - begin)) * (WIDTH - LEFT - 10);
  const y = (count) => HEIGHT - BOTTOM - (count / most) * (HEIGHT - BOTTOM - TOP);
  const drawn = lines.map(([name, at]) => svg("path", { class: `step ${name}`, d: steps(points, at, now, x, y) }));
  const newest = points.at(-1);
  const sentence = `Replicas since ${clock(first)}: now ${lines.map(([name, at]) => `${newest[at] ?? "none"} ${name}`).join(", ")}.`;
  const axes = [0, most].map((count) => svg("line", { class: "axis", x1: LEFT, x2: WIDTH - 10, y1: y(count), y2: y(count) }));
  const labels = [0, most].map((count) => svg("text", { x: LEFT - 6, y: y(count) + 4, "text-anchor": "end" }, String(count)));
  const times = [[begin, "start"], [now, "end"]].map(([time, anchor]) => svg("text", { x: x(time), y: HEIGHT - 5, "text-anchor": anchor }, clock(time)));
  return el("figure", {}, picture(WIDTH, HEIGHT, sentence, ...axes, ...labels, ...times, ...drawn), key(lines.map(([name]) => name)), el("figcaption", { class: "said" }, sentence));
}

function steps(points, at, now, x, y) {
  let path = "";
  points.forEach((point, index) => {
    if (point[at] === null) return;
    const until = points[index + 1]?.[0] ?? now;
    path += `${path ? "L" : "M"}${x(point[0]).toFixed(1)} ${y(point[at]).toFixed(1)}H${x(until).toFixed(1)}`;
  });
  return path;
}

function key(names) {
  const sample = (name) => svg("svg", { viewBox: "0 0 28 10", "aria-hidden": "true" }, svg("path", { class: `step ${name}`, d: "M0 5H28" }));
  return el("ul", { class: "key" }, names.map((name) => el("li", {}, sample(name), name)));
}

// A start as one bar of its phases, and a list of them.
export function startChart(start) {
  const total = start.phases.reduce((sum, phase) => sum + phase.seconds, 0);
  let at = 0;
  const bars = start.phases.map((phase, index) => {
    const width = (phase.seconds / total) * WIDTH;
    const bar = svg("rect", { class: `phase${index % 7}`, x: at, y: 0, width, height: 24 });
    at += width;
    return bar;
  });
  const sentence = `${start.which === "now" ? "Starting now" : "Last start"}: ${start.phases.map((phase) => `${phase.phase} ${span(phase.seconds)}`).join(", ")}.`;
  const sample = (index) => svg("svg", { viewBox: "0 0 28 10", "aria-hidden": "true" }, svg("rect", { class: `phase${index % 7}`, width: 28, height: 10 }));
  const list = start.phases.map((phase, index) => el("li", {}, sample(index), `${phase.phase} ${round(phase.seconds)} s`));
  return el("figure", {}, picture(WIDTH, 24, sentence, ...bars), el("ul", { class: "key" }, list));
}
