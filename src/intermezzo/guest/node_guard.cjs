/**
 * Lets nobody to a Node server in the sandbox who does not bring the session's access token, as Jupyter's own does.
 *
 * It stands in front of every request and websocket that comes over the network, and takes the token away before
 * anything behind it, such as a program on a forwarded port, could read it. Without a session it lets nobody in.
 */
"use strict";

const crypto = require("node:crypto");
const fs = require("node:fs");
const http = require("node:http");
const net = require("node:net");

const VARIABLE = "INTERMEZZO_SESSION";
const GUARDED = new Set(["request", "upgrade", "connect", "checkContinue", "checkExpectation"]);
const session = process.env[VARIABLE] ? JSON.parse(fs.readFileSync(process.env[VARIABLE], "utf8")) : {};
const expected = digest(`token ${session.access_token ?? crypto.randomBytes(32).toString("hex")}`);
let refusedUntil = 0;

function digest(text) {
  return crypto.createHash("sha256").update(text).digest();
}

function isAllowed(request) {
  return crypto.timingSafeEqual(digest(request.headers.authorization ?? ""), expected);
}

function withoutToken(request) {
  delete request.headers.authorization;
  const raw = request.rawHeaders;
  for (let at = raw.length - 2; at >= 0; at -= 2) if (raw[at].toLowerCase() === "authorization") raw.splice(at, 2);
}

function turnAway(answerOrSocket) {
  if (answerOrSocket instanceof http.ServerResponse) {
    answerOrSocket.writeHead(401, { "Content-Type": "text/plain", Connection: "close" });
    answerOrSocket.end("the access token is missing or wrong\n");
  } else {
    answerOrSocket.on("error", () => answerOrSocket.destroy());
    answerOrSocket.end("HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
  }
}

const emit = http.Server.prototype.emit;

http.Server.prototype.emit = function (event, request, answerOrSocket, ...rest) {
  if (event === "connection" && request.localPort !== undefined && Date.now() < refusedUntil) {
    request.destroy();
    return true;
  }
  // Unix sockets are inside the sandbox and have their own permissions; they know no port.
  if (GUARDED.has(event) && request.socket.localPort !== undefined) {
    if (!isAllowed(request)) {
      turnAway(answerOrSocket);
      return true;
    }
    withoutToken(request);
  }
  return emit.call(this, event, request, answerOrSocket, ...rest);
};

/**
 * Close what browsers have open and take no new connection for some seconds; 0 takes them again at once.
 *
 * A connection that is cut off by a restore comes back as an error that VS Code does not expect and never gets over.
 * One that was closed in order is simply made again by the browser.
 */
exports.refuse = function (seconds) {
  refusedUntil = Date.now() + seconds * 1000;
  if (seconds === 0) return;
  for (const handle of process._getActiveHandles()) {
    if (handle instanceof net.Socket && handle.localPort === session.port) handle.destroy();
  }
};
