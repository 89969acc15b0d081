// Several workspaces at once: what is ticked on the list, and one button that pauses all of it.
import { say, xsrf } from "./requests.js";

function boxes(which = "") {
  return [...document.querySelectorAll(`#list tbody input[type=checkbox]${which}`)];
}

function tick(box, checked) {
  box.checked = checked;
  box.dispatchEvent(new Event("change", { bubbles: true }));
}

function update() {
  const chosen = document.getElementById("chosen");
  if (!chosen) {
    return;
  }
  const [count, possible] = [boxes(":checked").length, boxes().length];
  chosen.hidden = count === 0;
  document.getElementById("chosen-count").textContent = count ? chosen.dataset.words.replace("#", count) : "";
  const all = document.getElementById("pick-all");
  all.checked = count > 0 && count === possible;
  all.indeterminate = count > 0 && count < possible;
  all.disabled = possible === 0;
}

async function pause(path) {
  const headers = { "X-XSRF-Token": xsrf(), "HX-Request": "true" };
  const answer = await fetch(`${path}/pause`, { method: "POST", headers });
  return answer.ok ? "" : (await answer.json()).detail;
}

async function pauseChosen() {
  const asked = boxes(":checked");
  const refusals = (await Promise.all(asked.map((box) => pause(box.value)))).filter(Boolean);
  asked.forEach((box) => tick(box, false));
  const done = document.getElementById("chosen").dataset.done.replace("#", asked.length - refusals.length);
  say([done, ...refusals]);
}

document.addEventListener("change", (event) => {
  if (event.target.id === "pick-all") {
    boxes().forEach((box) => tick(box, event.target.checked));
  } else if (event.target.closest("#list")) {
    update();
  }
});
document.addEventListener("click", (event) => {
  if (event.target.id === "pause-chosen") {
    pauseChosen();
  }
});
document.addEventListener("htmx:afterSettle", update);
document.addEventListener("htmx:oobAfterSwap", update);
update();
