import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { systemTimers } from '../../../infrastructure/runtime/clock.ts';
import { ScanError } from './clamd.ts';
import { createScanner, type Scanner } from './scan.ts';

const MEBIBYTE = 1_048_576;
/** The EICAR test file, assembled here so that no scanner reports this source file. */
const EICAR = `X5O!P%@AP[4\\PZX54(P^)7CC)7}$${'EICAR-STANDARD'}-ANTIVIRUS-TEST-FILE!$H+H*`;
/** One signature: MD5, size, name. */
const SIGNATURES = '44d88612fea8a8f36de82e1278abb02f:68:Eicar-Test-Signature\n';

const isInstalled = spawnSync('clamd', ['--help']).status === 0;
if (isInstalled) describe('a real clamd', describeClamd);
else test('a real clamd', { skip: 'clamd is not installed' });

function describeClamd(): void {
  let folder: string;
  let scanner: Scanner;
  let clamd: ReturnType<typeof spawn>;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'portico-clamd-'));
    const socket = join(folder, 'clamd.sock');
    const settings = [
      `LocalSocket ${socket}`,
      `DatabaseDirectory ${folder}`,
      `User ${userInfo().username}`,
      'Foreground yes',
      'StreamMaxLength 1M',
      'MaxFileSize 512K',
      'AlertExceedsMax yes',
    ];
    await writeFile(join(folder, 'test.hdb'), SIGNATURES);
    await writeFile(join(folder, 'clamd.conf'), `${settings.join('\n')}\n`);
    clamd = spawn('clamd', ['--config-file', join(folder, 'clamd.conf')], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    scanner = createScanner({ clamd: socket, timers: systemTimers });
    while (!(await isListening())) await turnOfTheLoop();
  });

  after(async () => {
    clamd.kill();
    if (clamd.exitCode === null) await once(clamd, 'exit');
    await rm(folder, { recursive: true, force: true });
  });

  /** clamd buffers its log, so readiness is polled by connecting. */
  async function isListening(): Promise<boolean> {
    assert.equal(clamd.exitCode, null, 'clamd did not start');
    return scan(Buffer.from('x')).then(
      () => true,
      (error) => {
        assert.ok(error instanceof ScanError);
        return false;
      },
    );
  }

  const scan = (...pieces: Buffer[]) => scanner.scan(Readable.from(pieces));

  test('accepts clean content', async () => {
    assert.equal(await scan(Buffer.from('nothing to see'), Buffer.alloc(100_000)), 'clean');
  });

  test('finds a virus', async () => {
    assert.equal(await scan(Buffer.from(EICAR.slice(0, 20)), Buffer.from(EICAR.slice(20))), 'infected');
  });

  test('reports content beyond its stream limit', async () => {
    const pieces = Array.from({ length: 32 }, () => Buffer.alloc(MEBIBYTE));
    assert.equal(await scan(...pieces), 'too_large');
  });

  test('reports content that it did not scan to the end', async () => {
    assert.equal(await scan(Buffer.alloc(0.75 * MEBIBYTE, 'x')), 'too_large');
  });
}
