// The token of whoever looks: kept in this tab alone, and gone with it.

const KEY = "token";

export function token() {
  return sessionStorage.getItem(KEY) ?? "";
}

export function keep(text) {
  if (text) sessionStorage.setItem(KEY, text);
  else sessionStorage.removeItem(KEY);
}
