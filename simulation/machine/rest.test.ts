import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';

/** Runs in a process of its own, because `install` replaces timers. Prints what `rest` did and whether the work ended. */
async function restAfter(imports: string, work: string): Promise<string> {
  const rest = import.meta.resolve('./rest.ts');
  const script = `
    import { enter, install, rest } from '${rest}';
    ${imports}
    install();
    let ended = 'work goes on';
    const node = { name: 'a.1', isDead: false, frozenUntil: 0 };
    enter(node, async () => { ${work} }).then(() => { ended = 'work has ended'; });
    const problem = await rest().then(() => 'at rest', (error) => error.message);
    process.stdout.write(problem + ', ' + ended);`;
  const args = ['--input-type=module', '--eval', script];
  return (await promisify(execFile)(process.execPath, args)).stdout;
}

test('files are written and read within a step', async () => {
  const path = 'join(await mkdtemp(join(tmpdir(), "portico-rest-")), "file")';
  const result = await restAfter(
    `import { mkdtemp, open, readFile, rm, stat } from 'node:fs/promises';
     import { tmpdir } from 'node:os';
     import { dirname, join } from 'node:path';`,
    `const path = ${path};
     const handle = await open(path, 'wx', 0o600);
     const { bytesWritten } = await handle.writev([Buffer.from('con'), Buffer.from('tent')]);
     await handle.sync();
     await handle.close();
     let read = '';
     for await (const piece of (await open(path)).createReadStream({ start: 1, end: 5 })) read += piece;
     if (bytesWritten !== 7 || read !== 'onten' || (await stat(path)).size !== 7) throw new Error(read);
     await rm(dirname(path), { recursive: true });`,
  );
  assert.equal(result, 'at rest, work has ended');
});

test('tokens are signed and verified within a step', async () => {
  const result = await restAfter(
    `import { createPrivateKey, sign } from 'node:crypto';
     import { exportJWK, generateKeyPair, importJWK, jwtVerify } from '${import.meta.resolve('jose')}';`,
    `const pair = await generateKeyPair('ES256', { extractable: true });
     const key = createPrivateKey({ key: await exportJWK(pair.privateKey), format: 'jwk' });
     const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
     const signed = part({ alg: 'ES256' }) + '.' + part({});
     const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
     const publicKey = await importJWK(await exportJWK(pair.publicKey), 'ES256');
     await jwtVerify(signed + '.' + signature.toString('base64url'), publicKey);`,
  );
  assert.equal(result, 'at rest, work has ended');
});

test('a node that uses the thread pool fails the seed', async () => {
  const file = await restAfter(
    `import { readFile } from 'node:fs';`,
    `await new Promise((resolve) => void readFile('.', resolve));`,
  );
  assert.match(file, /^a node uses the thread pool: FSREQCALLBACK/);
  const hash = await restAfter('', `await crypto.subtle.digest('SHA-256', new Uint8Array(1));`);
  assert.match(hash, /^a node uses the thread pool: digest/);
});
