// The page in front of a workspace that does not run: keeps its state fresh, resumes it when asked, and opens the
// workspace by itself once it runs.
import { say, xsrf } from "./requests.js";

const door = document.getElementById("door");
const AGAIN_MS = 1000;

async function look() {
  let answer;
  try {
    answer = await fetch(door.dataset.state, { cache: "no-store" });
  } catch {
    return;
  }
  if (answer.status === 401 || answer.status === 404) {
    location.reload();
    return;
  }
  if (!answer.ok) {
    return;
  }
  const text = await answer.text();
  const fresh = new DOMParser().parseFromString(text, "text/html");
  if (fresh.querySelector("[data-phase]").dataset.phase === "Running") {
    location.reload();
    return;
  }
  if (door.dataset.shown !== text) {
    door.dataset.shown = text;
    door.replaceChildren(...fresh.body.childNodes);
    document.getElementById("announcement").textContent = door.querySelector("h1").textContent.trim();
  }
}

door.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-resume]");
  if (!button) {
    return;
  }
  button.disabled = true;
  const headers = { "X-XSRF-Token": xsrf(), "HX-Request": "true" };
  const answer = await fetch(`${door.dataset.api}/resume`, { method: "POST", headers });
  if (!answer.ok) {
    const problem = await answer.json();
    say([problem.detail, problem.hint]);
    button.disabled = false;
  }
  await look();
});

(async function keepFresh() {
  if (document.visibilityState === "visible") {
    await look();
  }
  setTimeout(keepFresh, AGAIN_MS);
})();
