/**
 * The witness inside a process of a Node server: keeps one planted value in its memory and says who it is when asked,
 * in the words of the kernels' witness.
 */
"use strict";

const fs = require("node:fs");

let nonce = "";

/** The start time of this process in clock ticks since boot (proc(5), field 22). */
function started() {
  const stat = fs.readFileSync("/proc/self/stat", "latin1");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]);
}

exports.answer = function ({ plant }) {
  if (plant !== undefined) nonce = String(plant);
  return { pid: process.pid, started: started(), nonce };
};
