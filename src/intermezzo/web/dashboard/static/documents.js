// Fills a field with the text of a file that is chosen beside it; nothing is sent before somebody says so.

document.addEventListener("change", async ({ target }) => {
  const file = target.dataset?.fills && target.files?.[0];
  if (file) {
    document.getElementById(target.dataset.fills).value = await file.text();
  }
});
