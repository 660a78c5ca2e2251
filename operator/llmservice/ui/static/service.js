// One service: what is said of it, what runs, why that many replicas, how it starts, and why its plan is as it is.

import { replicasChart, startChart } from "./chart.js";
import { el, facts, round, section, span, state, table } from "./parts.js";

export function serviceView(main, data) {
  main.replaceChildren(
    el("h1", { tabindex: -1 }, `${data.namespace}/${data.name}`),
    el("p", {}, state(data), data.replicas ? `, ${data.replicas} replicas` : ""),
    el("p", {}, data.message),
    about(data),
    ...[remarks(data), replicas(data), scaling(data), decisions(data), starts(data), plan(data), events(data)].filter(Boolean),
  );
}

function about(data) {
  const plan = data.plan;
  const devices = plan.devices ? `${plan.devices} × ${plan.accelerator || plan.resourceName} for each replica` : "";
  const requests = plan.maxNumSeqs ? `${plan.maxNumSeqs} at once for each replica${plan.maxModelLen ? `, ${round(plan.maxModelLen)} tokens each` : ""}` : "";
  return facts([["Engine", data.engine], ["Image", plan.image], ["Model", data.model], ["Devices", devices], ["Requests", requests], ["Address", data.url]]);
}

function remarks(data) {
  if (!data.remarks.length) return null;
  return section("Remarks", table("Conditions that need a look", ["Condition", "Reason", "Message"], data.remarks.map((each) => [`${each.type} ${each.status}`, each.reason, each.message])));
}

function replicas(data) {
  const chart = data.points.length ? replicasChart(data.points, data.now) : null;
  const pods = data.pods.map((pod) => [pod.name, pod.state, pod.restarts, span(pod.age), pod.node]);
  const list = pods.length ? table("Replicas", ["Replica", "State", "Restarts", "Age", "Node"], pods) : el("p", { class: "said" }, "No replicas, or no right to list pods.");
  return section("Replicas", chart, list);
}

function scaling(data) {
  const why = data.explanation, told = why.decision?.message ?? data.scaling.message;
  if (!told && !why.problem) return null;
  return section(
    "Why that many",
    el("p", {}, told ?? ""),
    why.problem ? el("p", { class: "said" }, `The operator cannot be asked for the numbers: ${why.problem}`) : null,
    why.mode ? facts([["Policy", `${why.policy}, mode ${why.mode}`], ["Bounds", `${why.minReplicas} to ${why.maxReplicas} replicas`]]) : null,
    why.steps?.length ? table("Steps of the decision", ["Step", "Asks for", "Why"], why.steps.map((step) => [step.name, step.replicas, step.message])) : null,
    why.pods?.length ? table("What was read", ["Replica", "Phase", "Running", "Waiting", "KV cache", "Tokens/s", "Problem"], why.pods.map(read)) : null,
  );
}

function read(pod) {
  const share = pod.kvCacheUse === undefined ? "" : `${Math.round(pod.kvCacheUse * 100)} %`;
  return [pod.name, pod.phase, pod.running ?? "", pod.waiting ?? "", share, pod.tokensPerSecond ?? "", pod.reason ? `${pod.reason}: ${pod.message}` : ""];
}

function decisions(data) {
  if (!data.decisions.length) return null;
  return section("Decisions since this page was opened", table("Decisions", ["At", "Replicas", "Reason", "Message"], data.decisions.map((each) => [each.decidedAt, each.replicas ?? "", each.reason, each.message])));
}

function starts(data) {
  if (!data.starts.length) return null;
  const titles = { now: "Starting now", last: "Last start" };
  return section("Start-up", data.starts.map((start) => [el("p", {}, `${titles[start.which]}: ${start.pod}${start.totalSeconds ? `, ${span(start.totalSeconds)} in all` : start.phase ? `, in phase ${start.phase}` : ""}`), start.phases.length ? startChart(start) : null]));
}

function plan(data) {
  if (!data.defaults.length && !data.notes.length) return null;
  const list = data.defaults.length ? table("Computed values", ["Field", "Value", "Why"], data.defaults.map((each) => [each.field, each.value, each.reason])) : null;
  return section("Plan", data.notes.map((note) => el("p", {}, note)), list);
}

function events(data) {
  if (!data.events.length) return null;
  return section("Events", table("Events", ["Ago", "Event", "Message"], [...data.events].reverse().map((each) => [span(each.age), each.reason, each.message])));
}
