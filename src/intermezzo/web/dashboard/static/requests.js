// What every request of a page needs: JSON, the proof that it comes from this page, and errors shown where they belong.
import { accepted } from "./fields.js";

export function xsrf() {
  const entry = document.cookie.split("; ").find((part) => part.startsWith("intermezzo_xsrf="));
  return entry ? entry.slice("intermezzo_xsrf=".length) : "";
}

export function say(sentences) {
  const stop = document.documentElement.lang === "ja" ? "。" : ".";
  const ended = sentences.filter(Boolean).map((words) => words.replace(/[^.!?。]$/, `$&${stop}`));
  document.getElementById("message").textContent = ended.join(" ");
}

// What `name` stands for in `outer`, made if it is not there: `data[2]` is an entry of a list, `data` an object.
function within(outer, name) {
  const [, list, place] = name.match(/^(.+)\[(\d+)\]$/) ?? [];
  return list ? ((outer[list] ??= [])[place] ??= {}) : (outer[name] ??= {});
}

// `spec.kind` becomes { spec: { kind } }, as the API wants it; `name[]` is a list, one entry a line. Of `data[0].path`
// and `data[2].path` the list has two entries, in that order.
function nested(parameters) {
  const body = {};
  for (const [path, value] of parameters.entries()) {
    const names = path.replace("[]", "").split(".");
    const last = names.pop();
    const inner = names.reduce(within, body);
    if (path.endsWith("[]")) {
      const lines = value.split("\n").map((line) => line.trim()).filter(Boolean);
      inner[last] = [...(inner[last] ?? []), ...lines];
    } else {
      inner[last] = value;
    }
  }
  return body;
}

// `/members/{subject}` is filled in from the form's own field of that name.
function filled(path, parameters) {
  return path.replace(/\{(\w+)\}/g, (_, name) => {
    const value = parameters[name];
    delete parameters[name];
    return encodeURIComponent(value);
  });
}

// A moment is put in as a date and a time here, and asked for in milliseconds; left empty, it is 0.
function inMilliseconds(element, parameters) {
  element.querySelectorAll("[data-milliseconds]").forEach(({ name, value }) => {
    parameters[name] = value ? new Date(value).getTime() : 0;
  });
}

htmx.defineExtension("json", {
  onEvent(name, event) {
    if (name === "htmx:configRequest" && event.detail.verb !== "get") {
      event.detail.headers["X-XSRF-Token"] = xsrf();
      event.detail.headers["Content-Type"] = "application/json";
      inMilliseconds(event.detail.elt, event.detail.parameters);
      event.detail.path = filled(event.detail.path, event.detail.parameters);
    }
  },
  encodeParameters(request, parameters) {
    return JSON.stringify(nested(parameters), (_, value) => (Array.isArray(value) ? value.flat() : value));
  },
});

function clear() {
  document.querySelectorAll("[data-errors-of]").forEach((slot) => (slot.textContent = ""));
  document.querySelectorAll("[aria-invalid]").forEach((input) => input.removeAttribute("aria-invalid"));
  say([]);
}

function explain(problem) {
  clear();
  const slots = [...document.querySelectorAll("[data-errors-of]")];
  const rest = slots.find((each) => each.dataset.errorsOf === "*"); // what stands in no field of the page
  for (const [field, words] of Object.entries(problem.fields || {})) {
    const slot = slots.find((each) => each.dataset.errorsOf.split(" ").includes(field));
    const input = slot && document.querySelector(`[aria-describedby~="${slot.id}"]`);
    if (!slot && rest) {
      rest.textContent += `${field}: ${words}\n`;
    }
    if (slot) {
      slot.textContent = [slot.textContent, words].filter(Boolean).join("; ");
    }
    input?.setAttribute("aria-invalid", "true");
  }
  say([problem.detail, problem.hint]);
  document.querySelector("[aria-invalid]")?.focus();
}

// What was chosen but refused is not so: back to what the page was made with.
function reset(element) {
  if (element instanceof HTMLSelectElement) {
    const before = [...element.options].findIndex((option) => option.defaultSelected);
    element.selectedIndex = Math.max(before, 0);
  }
}

// Something that is told this once: a token, a login link.
function reveal(element, answer) {
  const { show, from } = element.closest("[data-show]")?.dataset ?? {};
  if (show) {
    document.getElementById(`${show}-text`).textContent = JSON.parse(answer)[from];
    document.getElementById(show).hidden = false;
    document.getElementById(`${show}-text`).focus();
  }
}

// After a change: to the new workspace, to another page, or this page once more.
function goOn(element, answer) {
  const next = element.closest("[data-next]")?.dataset.next;
  if (next === "workspace") {
    const made = JSON.parse(answer);
    location.assign(`/w/${encodeURIComponent(made.namespace)}/${encodeURIComponent(made.name)}`);
  } else if (next) {
    location.assign(next);
  } else {
    htmx.trigger(document.body, "refresh");
  }
}

// A notice that was dismissed, say, is gone at once.
function remove(element) {
  document.getElementById(element.dataset.removes)?.remove();
}

function answered(detail) {
  const { xhr, elt } = detail;
  if (xhr.status >= 200 && xhr.status < 300) {
    clear();
    accepted(elt);
    remove(elt);
    reveal(elt, xhr.responseText);
    goOn(elt, xhr.responseText);
    return;
  }
  try {
    explain(JSON.parse(xhr.responseText));
  } catch {
    say([`${xhr.status} ${xhr.statusText}`]);
  }
  reset(elt);
}

function unanswered() {
  say([document.getElementById("message").dataset.unanswered]);
}

// The answer is listened for at the request itself: a live page may have replaced the button that was pressed by the
// time it comes, and htmx tells what failed to that button alone.
document.addEventListener("htmx:beforeRequest", ({ detail }) => {
  if (detail.requestConfig.verb !== "get") {
    detail.xhr.addEventListener("load", () => answered(detail));
    detail.xhr.addEventListener("error", unanswered);
    detail.xhr.addEventListener("timeout", unanswered);
  }
});

// Takes the option that is offered in the place of another. It may be a hidden one, which has no button of its own.
document.addEventListener("click", (event) => {
  const { choose, value } = event.target.dataset ?? {};
  if (choose) {
    const options = [...document.querySelectorAll(`input[name="${choose}"]`)];
    const option = options.find((each) => each.value === value) ?? options.find((each) => each.checked);
    option.value = value;
    option.checked = true;
    htmx.trigger("#choices", "choose");
  }
});
