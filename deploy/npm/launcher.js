#!/usr/bin/env node
// Starts the binary of the package for this platform, and ends as it ends.
"use strict";
const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const name = `@powerstrip/${process.platform}-${process.arch}`;
let binary;
try {
  binary = require.resolve(`${name}/bin/powerstrip`);
} catch {
  console.error(
    `powerstrip: the package ${name} is not installed. Either there is no binary for this platform,\n` +
      "or optional dependencies were left out: install again without --omit=optional.",
  );
  process.exit(1);
}

const child = spawn(binary, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`powerstrip: ${binary} cannot be started: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
