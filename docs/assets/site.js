// A table that is wider than the page scrolls inside it: let the keyboard reach it, too. The theme wraps tables late.
function reachable() {
  for (const wrap of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) wrap.tabIndex = 0;
}

new MutationObserver(reachable).observe(document.body, { childList: true, subtree: true });
reachable();
