import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after } from 'node:test';
import { type Browser, chromium } from 'playwright-core';

/**
 * A Chromium out of an npm package, so that the tests need nothing but npm. It is for Linux on x64; elsewhere the
 * Chrome of the machine is used.
 */
const FOLDER = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'portico-chromium');
/** Its own font beside those of the machine, which may have none: without any the browser ends itself. */
const FONTS = join(FOLDER, 'fonts.conf');
const FONT_DIRECTORIES = `<?xml version="1.0"?>
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>${join(FOLDER, 'fonts')}</dir>
  <cachedir>${join(FOLDER, 'fonts-cache')}</cachedir>
</fontconfig>
`;
/** Tests run as root too, and in containers with little shared memory. */
const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];

const isBundled = process.platform === 'linux' && process.arch === 'x64';

/** Unpacks it; once, before the test files run beside each other. */
export async function prepareBrowser(): Promise<void> {
  if (!isBundled || existsSync(FONTS)) return;
  await mkdir(FOLDER, { recursive: true });
  await unpacked();
  await writeFile(FONTS, FONT_DIRECTORIES);
}

async function unpacked(): Promise<string> {
  // The package unpacks into the folder for temporary files, under names that say nothing of its version.
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

/** One for the test file, closed after it. */
export async function launchBrowser(): Promise<Browser> {
  const browser = isBundled
    ? await chromium.launch({
        executablePath: await unpacked(),
        args: [...ARGUMENTS, '--headless=shell'],
        env: { ...process.env, FONTCONFIG_FILE: FONTS },
      })
    : await chromium.launch({ channel: 'chrome', args: ARGUMENTS });
  after(() => browser.close());
  return browser;
}
