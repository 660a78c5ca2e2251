// Who looks: asked where no proxy before the page has said it.

import { el } from "./parts.js";

const HOW = "kubectl create token NAME -n NAMESPACE";

export function signInView(main, message, done) {
  if (main.querySelector("#token")) {
    document.getElementById("why").textContent = message;
    return;
  }
  const given = el("input", { type: "password", id: "token", autocomplete: "off", spellcheck: "false", "aria-label": "Bearer token" });
  const submit = (event) => {
    event.preventDefault();
    const text = given.value.trim().replace(/^Bearer\s+/i, "");
    if (/^[\w.~+/=-]+$/.test(text)) done(text);
    else document.getElementById("why").textContent = "That is no bearer token: paste it whole, in one line.";
  };
  main.replaceChildren(
    el("h1", { tabindex: -1 }, "Sign in"),
    el("p", { id: "why", role: "status" }, message),
    el("form", { submit }, given, el("button", { id: "in" }, "Look")),
    el("p", { class: "said" }, "You see what this token may see. A service account's is made by ", el("code", {}, HOW), "; your own is in your kubeconfig, or comes from whoever runs the cluster."),
    el("p", { class: "said" }, "It stays in this tab, and goes to the cluster's API server by way of this page. Closing the tab forgets it."),
  );
  document.title = "Sign in: LLMServices";
  given.focus();
}
