#!/usr/bin/env node
'use strict';

/**
 * The command line runs on Node 24 or newer. Called by an older one, it hands over to the Node that
 * npm installed beside the other dependencies. Plain JavaScript, for the older one reads it too.
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

installWhenMissing();
stopWithShell();
if (Number.parseInt(process.versions.node, 10) >= MINIMUM_RUNTIME) runHere();
else if (fs.existsSync(bundled)) runOnBundled();
else {
  process.stderr.write(`Portico runs on Node.js ${MINIMUM_RUNTIME} or newer; install it from nodejs.org.\n`);
  process.exitCode = 1;
}

function installWhenMissing() {
  // npm writes this file last, so it is not there after an installation that was broken off.
  if (fs.existsSync(path.join(root, 'node_modules', '.package-lock.json'))) return;
  const { status } = spawnSync(process.execPath, [path.join(root, 'scripts', 'setup.cjs')], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status === null ? 1 : status);
}

/**
 * npm hands a SIGTERM to the shell that it started us in, and a shell like dash ends without passing it on.
 * The process then has another parent and would never be told to stop.
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
  // Compiled modules are kept: a start takes half a second less. A folder that cannot be written is no failure.
  enableCompileCache(
    process.env.NODE_COMPILE_CACHE || path.join(root, 'node_modules', '.cache', 'portico-compiled'),
  );
  const emitWarning = process.emitWarning;
  // The first releases of Node 24 announce on every start that they read TypeScript.
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
  // At a terminal Ctrl-C reaches the child by itself, and twice would mean "do not wait".
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
