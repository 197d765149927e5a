#!/usr/bin/env node
'use strict';

/**
 * Runs on Node 24 or newer; an older Node starts the one that npm installed. Plain JavaScript, because the older Node
 * parses this file.
 */
const { spawn, spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { enableCompileCache } = require('node:module');
const { pathToFileURL } = require('node:url');

const MINIMUM_RUNTIME = 24;
const STARTED_BY_NPM = ['start', 'npx'];
const LOOK_FOR_SHELL_EVERY_MS = 250;
const root = path.join(__dirname, '..');
const main = path.join(root, 'server', 'main.ts');
const bundled = path.join(root, 'node_modules', '.bin', process.platform === 'win32' ? 'node.cmd' : 'node');

// Cached compiled modules save half a second per start. In the environment, because worker threads and another Node
// read it there. An unwritable folder is ignored.
process.env.NODE_COMPILE_CACHE ||= path.join(root, 'node_modules', '.cache', 'portico-compiled');

installWhenMissing();
stopWithShell();
if (Number.parseInt(process.versions.node, 10) >= MINIMUM_RUNTIME) runHere();
else if (fs.existsSync(bundled)) runOnBundled();
else {
  process.stderr.write(`Portico runs on Node.js ${MINIMUM_RUNTIME} or newer; install it from nodejs.org.\n`);
  process.exitCode = 1;
}

function installWhenMissing() {
  // npm writes this file last, so it is missing after an interrupted installation.
  if (fs.existsSync(path.join(root, 'node_modules', '.package-lock.json'))) return;
  const { status } = spawnSync(process.execPath, [path.join(root, 'scripts', 'setup.cjs')], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status === null ? 1 : status);
}

/**
 * npm sends SIGTERM to its shell; dash exits without forwarding it, so this process would never stop.
 */
function stopWithShell() {
  if (!STARTED_BY_NPM.includes(process.env.npm_lifecycle_event)) return;
  const shell = process.ppid;
  const watching = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(watching);
    process.kill(process.pid, 'SIGTERM');
  }, LOOK_FOR_SHELL_EVERY_MS);
  watching.unref();
}

function runHere() {
  enableCompileCache();
  const emitWarning = process.emitWarning;
  // The first releases of Node 24 print a warning about type stripping at every start.
  process.emitWarning = (warning, ...rest) => {
    if (!/type stripping/i.test(String(warning))) emitWarning.call(process, warning, ...rest);
  };
  import(pathToFileURL(main).href).catch((error) => {
    process.stderr.write(`${error.stack || error}\n`);
    process.exitCode = 1;
  });
}

function runOnBundled() {
  const onWindows = process.platform === 'win32';
  const program = onWindows ? `"${bundled}"` : bundled;
  const args = [main, ...process.argv.slice(2)];
  const child = spawn(program, args, { stdio: 'inherit', shell: onWindows });
  const forward = (signal) => child.kill(signal);
  process.on('SIGTERM', forward);
  process.on('SIGHUP', forward);
  // Ctrl-C at a terminal already reaches the child; a second signal would skip the graceful shutdown.
  process.on('SIGINT', (signal) => process.stdin.isTTY || forward(signal));
  child.once('error', (error) => {
    process.stderr.write(`${bundled} could not be started (${error.message}).\n`);
    process.exitCode = 1;
  });
  child.once('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    for (const name of ['SIGTERM', 'SIGHUP', 'SIGINT']) process.removeAllListeners(name);
    process.kill(process.pid, signal);
  });
}
