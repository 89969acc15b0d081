// Fills a field with the text of a file that is chosen beside it; nothing is sent before somebody says so.

async function fill(chooser) {
  const file = chooser.dataset?.fills && chooser.files?.[0];
  if (file) {
    document.getElementById(chooser.dataset.fills).value = await file.text();
  }
}

document.addEventListener("change", ({ target }) => fill(target));
// Whoever was quicker than this script has chosen already.
document.querySelectorAll("[data-fills]").forEach(fill);
