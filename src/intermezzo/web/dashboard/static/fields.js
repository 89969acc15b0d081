// What a person has put into a field, what was said of it, and where the keyboard is, stay while their place on the page
// is filled anew; and nothing is replaced under a finger, since half a press is none.

const FIELDS = ["input:not([type=hidden], [type=file], [type=checkbox])", "select", "textarea"].map((each) => `${each}[id]`).join();
const LONGEST_PRESS_MS = 10000;
const taken = new Map();
let kept = [];
let refused = [];
let invalid = [];
let place = null;
let composing = false;
let pressing = false;
let released = 0;
const postponed = new Set();

function isChanged(field) {
  if (field instanceof HTMLSelectElement) {
    const initial = [...field.options].findIndex((option) => option.defaultSelected);
    return field.selectedIndex !== Math.max(initial, 0);
  }
  return field.type === "radio" ? field.checked !== field.defaultChecked : field.value !== field.defaultValue;
}

// What the server has accepted is not kept: the page shows what came of it.
export function accepted(element) {
  const form = element.closest("form") ?? element;
  [form, ...form.querySelectorAll(FIELDS)].filter((each) => each.matches(FIELDS)).forEach(({ id, value }) => taken.set(id, value));
}

function selection(field) {
  return field.selectionStart === undefined ? [] : [field.selectionStart, field.selectionEnd];
}

function placeOf(element) {
  return element.matches("summary") ? { folded: element.parentElement.id } : { id: element.id, range: selection(element) };
}

// Of the page's own accord, and not because a person chose something, upon which the server chooses the rest.
function isRefresh({ verb, triggeringEvent }) {
  return verb === "get" && (triggeringEvent?.type ?? "refresh") === "refresh";
}

// Once the hand is still, whatever was not shown is asked for again: it may have changed since.
function catchUp() {
  if (!composing && !pressing) {
    const again = [...postponed];
    postponed.clear();
    const places = again.map((id) => document.getElementById(id)).filter(Boolean);
    places.forEach((place) => htmx.trigger(place, place.dataset.again ?? "refresh"));
  }
}

function keep({ detail }) {
  // An input method that is taken its field away loses what it was about to write, and a press its button.
  const busy = pressing || (composing && detail.target.contains(document.activeElement));
  const id = detail.elt === document.body ? "list" : detail.elt.id; // the page itself asks for rows of the list
  if (busy && id && detail.requestConfig.verb === "get") {
    detail.shouldSwap = false;
    postponed.add(id);
  } else if (isRefresh(detail.requestConfig)) {
    remember(detail);
  }
}

// What is held for longer is no press; and an end outside of the window is not always told.
function press() {
  pressing = true;
  clearTimeout(released);
  released = setTimeout(release, LONGEST_PRESS_MS);
}

function release() {
  pressing = false;
  setTimeout(catchUp); // the click itself comes first
}

// The space bar presses a button on its way up; the enter key at once, so that nothing can come between.
function isPress({ key, target }) {
  return key === " " && target.matches("button, summary, input");
}

function remember(detail) {
  const within = (selector) => [...detail.target.querySelectorAll(selector)];
  kept = within(FIELDS).filter((field) => isChanged(field) && taken.get(field.id) !== field.value).map(({ id, value, checked }) => ({ id, value, checked }));
  refused = within("[data-errors-of]").map(({ id, textContent }) => ({ id, textContent }));
  invalid = within("[aria-invalid]").map(({ id }) => id);
  place = detail.target.contains(document.activeElement) ? placeOf(document.activeElement) : null;
}

function put({ id, value, checked }) {
  const field = document.getElementById(id);
  if (field?.type === "radio") {
    field.checked = checked;
  } else if (field) {
    field.value = value;
  }
}

// After all others have put back what was open: what is folded away cannot have the keyboard.
function goBack() {
  const { folded, id, range } = place ?? {};
  place = null;
  const before = folded ? document.getElementById(folded)?.querySelector("summary") : document.getElementById(id);
  before?.focus({ preventScroll: true });
  if (before && range?.length && range[0] !== null) {
    before.setSelectionRange(...range);
  }
}

function restore() {
  kept.forEach(put);
  refused.forEach(({ id, textContent }) => document.getElementById(id)?.replaceChildren(textContent));
  invalid.forEach((id) => document.getElementById(id)?.setAttribute("aria-invalid", "true"));
  kept = refused = invalid = [];
}

document.addEventListener("input", ({ target }) => taken.delete(target.id));
document.addEventListener("compositionstart", () => (composing = true));
document.addEventListener("compositionend", () => {
  composing = false;
  catchUp();
});
document.addEventListener("pointerdown", press, true);
["pointerup", "pointercancel"].forEach((end) => document.addEventListener(end, release, true));
document.addEventListener("keydown", (event) => isPress(event) && !event.repeat && press(), true);
document.addEventListener("keyup", ({ key }) => key === " " && pressing && release(), true);
document.addEventListener("htmx:beforeSwap", keep);
document.addEventListener("htmx:afterSwap", restore);
document.addEventListener("htmx:afterSettle", goBack);
