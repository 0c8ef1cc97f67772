// The state of the page in the fragment of its address, which browsers never send to a server.

const MOST_CHARACTERS = 6000;

/** Return the state in the fragment. */
export function readFragment() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

/** Write a state; return false for a text that is too long for an address. */
export function writeFragment(state) {
  const kept = Object.entries(state).filter(([, value]) => value !== "" && value != null);
  const isLong = (state.text ?? "").length > MOST_CHARACTERS;
  const written = new URLSearchParams(isLong ? kept.filter(([name]) => name !== "text") : kept).toString();
  const fragment = written ? `#${written}` : location.pathname;
  if (`#${written}` !== location.hash) history.replaceState(null, "", fragment);
  return !isLong;
}
