import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after } from 'node:test';
import { type Browser, chromium } from 'playwright-core';

/** The npm package contains Chromium for Linux x64; other platforms use the installed Chrome. */
const FOLDER = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'portico-chromium');
/** Adds the font of the package: Chromium exits if the machine has no fonts. */
const FONTS = join(FOLDER, 'fonts.conf');
const FONT_DIRECTORIES = `<?xml version="1.0"?>
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>${join(FOLDER, 'fonts')}</dir>
  <cachedir>${join(FOLDER, 'fonts-cache')}</cachedir>
</fontconfig>
`;
/** For root users and containers with little shared memory. */
const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];
/**
 * Each load of a page starts over with unoptimized code, so optimizing it costs more than it saves; only axe runs long
 * enough. A larger young generation is collected less often. Together about a tenth of the browser's CPU. V8 ignores
 * flags that it does not know, so check the names in `--js-flags=--help` when Chromium is updated.
 */
const SCRIPT_ENGINE =
  '--js-flags=--no-opt --invocation-count-for-maglev=2000 --min-semi-space-size=16 --max-semi-space-size=32';

const isBundled = process.platform === 'linux' && process.arch === 'x64';

/** Unpacks the browser once, before test files run in parallel. */
export async function prepareBrowser(): Promise<void> {
  if (!isBundled || existsSync(FONTS)) return;
  await mkdir(FOLDER, { recursive: true });
  await unpacked();
  await writeFile(FONTS, FONT_DIRECTORIES);
}

async function unpacked(): Promise<string> {
  // The package unpacks into TMPDIR under names without a version, so it gets a folder of its own.
  const before = process.env.TMPDIR;
  process.env.TMPDIR = FOLDER;
  try {
    const { default: bundled } = await import('@sparticuz/chromium');
    bundled.setGraphicsMode = false;
    return await bundled.executablePath();
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
}

/** Closed after the test file. */
export async function launchBrowser(): Promise<Browser> {
  const browser = isBundled
    ? await chromium.launch({
        executablePath: await unpacked(),
        args: [...ARGUMENTS, SCRIPT_ENGINE, '--headless=shell'],
        env: { ...process.env, FONTCONFIG_FILE: FONTS },
      })
    : await chromium.launch({ channel: 'chrome', args: ARGUMENTS });
  after(() => browser.close());
  return browser;
}
