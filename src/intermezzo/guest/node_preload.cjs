/**
 * What every process of a Node server in a sandbox carries: the guard at its port, and a unix socket on which the
 * guest asks for its witness and has its browsers' connections closed before a pause.
 *
 * A line `{"plant": value}`, `{"refuse_for_s": seconds}` or `{}` is answered by pid, start time and the value held.
 * It must never keep the process from starting or from ending.
 */
"use strict";

const fs = require("node:fs");
const net = require("node:net");
const path = require("node:path");
const guard = require("./node_guard.cjs");
const witness = require("./node_witness.cjs");

const LONGEST_QUESTION = 4096;

function answer(line) {
  const question = JSON.parse(line);
  if (question.refuse_for_s !== undefined) guard.refuse(Number(question.refuse_for_s));
  return JSON.stringify(witness.answer(question)) + "\n";
}

function serve(connection) {
  let heard = "";
  connection.on("error", () => connection.destroy());
  connection.setTimeout(2000, () => connection.destroy());
  connection.setEncoding("utf8");
  connection.on("data", (text) => {
    heard += text;
    const end = heard.indexOf("\n");
    if (end < 0 && heard.length <= LONGEST_QUESTION) return;
    try {
      connection.end(answer(heard.slice(0, end)));
    } catch {
      connection.destroy();
    }
  });
}

/** Listens by way of the directory's descriptor: a socket's path may have only 107 bytes. */
function attach(directory) {
  const folder = fs.openSync(directory, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
  const place = path.join("/proc/self/fd", String(folder), `${process.pid}.sock`);
  fs.rmSync(place, { force: true });
  const server = net.createServer(serve);
  server.on("error", (error) => console.error(`intermezzo: no witness in process ${process.pid}: ${error.message}`));
  server.listen({ path: place, backlog: 8 });
  server.unref();
}

try {
  attach(path.join(process.env.XDG_RUNTIME_DIR, "intermezzo", "witness"));
} catch (error) {
  console.error(`intermezzo: no witness in process ${process.pid}: ${error.message}`);
}
