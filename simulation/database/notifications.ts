import type { Connection } from './connection.ts';
import { query } from './wire.ts';

/** A round trip on each listening session: the server has sent every earlier notification before its answer. */
export async function collectNotifications(
  connections: Iterable<Connection>,
  answer: (connection: Connection, bytes: Buffer) => void,
): Promise<void> {
  for (const connection of connections) {
    const { backend, isListening, executing, owner } = connection;
    if (!isListening || !backend || executing || owner.isDead) continue;
    await backend.execute(query('select 1'));
    for (const notification of backend.takeNotifications()) answer(connection, notification);
  }
}
