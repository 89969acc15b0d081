// Exchanges the single-use code for a session. The code is taken out of the address before anything else happens.
"use strict";

const form = document.getElementById("login");
const message = document.getElementById("message");
const target = new URLSearchParams(location.search).get("next") || "/";

async function logIn(code) {
  const answer = await fetch("/login", {
    method: "POST",
    headers: { "Content-Type": "application/json", "HX-Request": "true" }, // a page asks: errors in its language
    body: JSON.stringify({ code, next: target }),
  });
  const body = await answer.json();
  if (answer.ok) {
    location.replace(body.next);
  } else {
    const stop = document.documentElement.lang === "ja" ? "。" : ". ";
    message.textContent = [body.detail, body.hint].filter(Boolean).join(stop);
  }
}

const code = new URLSearchParams(location.hash.slice(1)).get("code");
history.replaceState(null, "", location.pathname + location.search);
if (code) {
  logIn(code);
}
form.addEventListener("submit", (event) => {
  event.preventDefault();
  logIn(document.getElementById("code").value.trim());
});
