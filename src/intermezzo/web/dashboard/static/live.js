// Keeps an open page true: asks again for what changed, and for all of it after any silence. A hidden page is not
// connected, so that many open tabs do not use up the browser's connections.

const GATHER_MS = 300;
const MOST_ROWS = 100;
const CHECK_MS = 5000;
const live = document.body.dataset.live;
const announcement = document.getElementById("announcement");
const stale = document.getElementById("stale");

let stream = null;
let gathered = new Set();
let timer = 0;

function refresh() {
  htmx.trigger(live === "rows" ? "#list" : document.body, "refresh");
}

// The summary comes with the rows; a workspace that has no row yet is worth a new list only if the list is whole.
function refreshRows(uids) {
  const known = uids.filter((uid) => document.getElementById(`row-${uid}`));
  const whole = "whole" in document.getElementById("list").dataset;
  if (known.length > MOST_ROWS || (whole && known.length < uids.length)) {
    refresh();
    return;
  }
  const wanted = new URLSearchParams(location.search);
  (known.length ? known : uids.slice(0, 1)).forEach((uid) => wanted.append("uid", uid));
  htmx.ajax("GET", `/rows?${wanted}`, { target: "#summary", swap: "none" });
}

function tell() {
  const changed = [...gathered];
  gathered = new Set();
  timer = 0;
  if (live === "rows") {
    refreshRows(changed);
  } else if (live === "all" || changed.includes(live)) {
    refresh();
  }
}

function arrived() {
  stale.hidden = true;
  refresh();
}

// A session that has ended answers a refresh with the way to the login.
function failed() {
  if (stream?.readyState === EventSource.CLOSED) {
    refresh();
  }
}

function check() {
  stale.hidden = !stream || stream.readyState === EventSource.OPEN;
  connect();
}

function connect() {
  if (document.hidden || !live) {
    stream?.close();
    stream = null;
  } else if (!stream || stream.readyState === EventSource.CLOSED) {
    stream = new EventSource("/api/intermezzo/v1/changes");
    stream.addEventListener("open", arrived);
    stream.addEventListener("error", failed);
    stream.addEventListener("changed", (event) => {
      JSON.parse(event.data).forEach((uid) => gathered.add(uid));
      timer ||= setTimeout(tell, GATHER_MS);
    });
  }
}

// What a person opened or ticked stays so when its place on the page is filled anew.
const opened = new Set();
const ticked = new Set();

function remember(set, element, yes) {
  if (element.id) {
    yes ? set.add(element.id) : set.delete(element.id);
  }
}

function restore() {
  opened.forEach((id) => document.getElementById(id)?.setAttribute("open", ""));
  ticked.forEach((id) => {
    const box = document.getElementById(id);
    if (box) {
      box.checked = true;
    }
  });
  const said = document.querySelector("[data-announce]")?.dataset.announce;
  if (said && said !== announcement.dataset.said) {
    announcement.textContent = announcement.dataset.said ? said : "";
    announcement.dataset.said = said;
  }
}

document.addEventListener("toggle", (event) => remember(opened, event.target, event.target.open), true);
document.addEventListener("change", (event) => {
  if (event.target.type === "checkbox") {
    remember(ticked, event.target, event.target.checked);
  }
});
document.addEventListener("htmx:afterSwap", restore);
document.addEventListener("htmx:oobAfterSwap", restore);
document.addEventListener("visibilitychange", connect);
setInterval(check, CHECK_MS);
restore();
connect();
