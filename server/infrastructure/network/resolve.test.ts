import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { createFakeClock } from '../../../testing/app/fake-clock.ts';
import { LIMITED } from '../../../testing/app/patience.ts';
import { createResolve, OTHER_FAMILY_MS } from './resolve.ts';

const [A, AAAA] = [1, 28];
const HEADER_BYTES = 12;
const V4 = Buffer.from([93, 184, 215, 14]);
const V6 = Buffer.from('2606470000000000000000000000000f', 'hex');

/** A name server (RFC 1035, section 4.1) that answers some types of queries, and is silent to others. */
async function createNameServer(records: Partial<Record<number, Buffer>>) {
  const socket = createSocket('udp4');
  let ignored = Promise.withResolvers<void>();
  socket.on('message', (query, { port, address }) => {
    const type = query.readUInt16BE(query.indexOf(0, HEADER_BYTES) + 1);
    const data = records[type];
    if (!data) return ignored.resolve();
    const question = query.subarray(HEADER_BYTES, query.indexOf(0, HEADER_BYTES) + 5);
    const header = Buffer.from([...query.subarray(0, 2), 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
    // A pointer to the name of the question, type, class IN, lifetime and length.
    const record = Buffer.from([0xc0, HEADER_BYTES, 0, type, 0, 1, 0, 0, 0, 60, 0, data.length, ...data]);
    socket.send(Buffer.concat([header, question, record]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  after(() => socket.close());
  return {
    servers: [`127.0.0.1:${socket.address().port}`],
    /** The next query without an answer. */
    nextIgnored(): Promise<void> {
      ignored = Promise.withResolvers();
      return ignored.promise;
    },
  };
}

test('the addresses of both families are found', async () => {
  const { servers } = await createNameServer({ [A]: V4, [AAAA]: V6 });
  const clock = createFakeClock();
  const found = await createResolve({ timers: clock, servers })('partner.example');
  assert.deepEqual(found.toSorted(), ['2606:4700::f', '93.184.215.14']);
  assert.equal(clock.waiting(), 0);
});

for (const [family, type, data, address] of [
  ['IPv4', A, V4, '93.184.215.14'],
  ['IPv6', AAAA, V6, '2606:4700::f'],
] as const)
  test(`a name server that answers for ${family} only delays by a second`, LIMITED, async () => {
    const { servers, nextIgnored } = await createNameServer({ [type]: data });
    const ignored = nextIgnored();
    const started = Promise.withResolvers<void>();
    const clock = createFakeClock();
    const timers = {
      after(ms: number, action: () => void) {
        started.resolve();
        return clock.after(ms, action);
      },
    };
    const finding = createResolve({ timers, servers })('partner.example');
    await Promise.all([ignored, started.promise]);
    const secondTry = nextIgnored().then(() => 'a second try');
    clock.advance(OTHER_FAMILY_MS);
    assert.deepEqual(await Promise.race([finding, secondTry]), [address]);
  });
