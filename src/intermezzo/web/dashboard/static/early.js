// A press that comes before the page's scripts have started is kept and carried out once they have: without them a form
// would go its own way, and what was typed would be lost. This alone runs while the page is still being read.

const ASKS = ["get", "post", "put", "patch", "delete"].map((verb) => `[hx-${verb}]`).join();
const kept = [];

function keep(event) {
  const asked = event.target.closest(ASKS);
  if (!asked?.matches(event.type === "submit" ? "form" : "button, a")) {
    return;
  }
  event.preventDefault();
  event.stopImmediatePropagation();
  kept.push(() => (event.type === "submit" ? asked.requestSubmit(event.submitter) : asked.click()));
}

document.addEventListener("submit", keep, true);
document.addEventListener("click", keep, true);
document.addEventListener("DOMContentLoaded", () => {
  // After all others who waited for this moment, htmx among them.
  setTimeout(() => {
    document.removeEventListener("submit", keep, true);
    document.removeEventListener("click", keep, true);
    kept.forEach((again) => again());
  });
});
