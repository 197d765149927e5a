import Fastify from 'fastify';
import { request } from 'undici';
import { DELIVERY_HEADERS } from './delivery-headers.ts';

/**
 * Child process of the benchmarks: a bare Fastify route that posts each event on, stores nothing and answers when the
 * endpoint has answered.
 */
const [endpoint = ''] = process.argv.slice(2);
const server = Fastify();

server.post<{ Body: { events: readonly object[] } }>('/events', async (call, reply) => {
  const body = JSON.stringify(call.body.events[0]);
  const answer = await request(endpoint, { method: 'POST', headers: DELIVERY_HEADERS, body });
  await answer.body.text();
  return reply.code(202).send({ total: 1 });
});

process.on('disconnect', () => process.exit());
process.send?.(await server.listen({ host: '127.0.0.1', port: 0 }));
