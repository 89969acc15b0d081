// What belongs to a choice is there to be filled in once it is chosen, and is not sent before.

document.addEventListener("change", ({ target }) => {
  const opened = target.dataset.opens && document.getElementById(target.dataset.opens);
  if (opened) {
    opened.hidden = !target.checked;
    opened.querySelectorAll("input, select").forEach((field) => (field.disabled = !target.checked));
  }
});
