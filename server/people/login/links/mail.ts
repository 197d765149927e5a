import { createTransport } from 'nodemailer';
import type { Timers } from '../../../infrastructure/runtime/clock.ts';
import type { Log } from '../../../infrastructure/runtime/log.ts';
import type { Secret } from '../../../infrastructure/runtime/secret.ts';
import { createWorkQueue } from '../../../infrastructure/runtime/work-queue.ts';

export type Message = { to: string; subject: string; text: string };
export type Mail = NonNullable<ReturnType<typeof createMail>>;

const CONNECTIONS = 2;
const CONNECT_TIMEOUT_MS = 10_000;
const SOCKET_TIMEOUT_MS = 30_000;
const MAX_WAITING_MESSAGES = 1_000;
/** After a failure; a server that asks to come again later mostly means soon. */
const RETRY_AFTER_MS = [5_000, 60_000];

/** Undefined without a server to hand mail to. Nobody waits for mail: what fails in the end is in the log. */
export function createMail({
  smtpUrl,
  from,
  timers,
  log,
}: {
  smtpUrl: Secret | undefined;
  from: string | undefined;
  timers: Timers;
  log: Log;
}) {
  if (smtpUrl === undefined || from === undefined) return undefined;
  const transport = createTransport({
    url: smtpUrl.reveal(),
    pool: true,
    maxConnections: CONNECTIONS,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
    // A message is text of ours; nothing in it may name a file or an address to read from.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const queue = createWorkQueue({ atOnce: CONNECTIONS, maxWaiting: MAX_WAITING_MESSAGES });
  const postponed = new Set<() => void>();
  let closing = false;

  function attempt(message: Message, failures: number): void {
    const sending = queue.run(() =>
      transport.sendMail({ from, ...message }).catch((error: unknown) => tryLater(message, failures, error)),
    );
    if (sending === undefined) log.error('a message was dropped: too many wait for the mail server');
  }

  /** Unless the server means what it says (RFC 5321, section 4.2.1: 5yz is for good). */
  function tryLater(message: Message, failures: number, error: unknown): void {
    // Their reason may quote the message, and with it the link.
    const { code, responseCode = 0 } = error as { code?: string; responseCode?: number };
    const afterMs = RETRY_AFTER_MS[failures];
    const givenUp =
      afterMs === undefined || responseCode >= 500 || closing || postponed.size >= MAX_WAITING_MESSAGES;
    log.warn({ code, response_code: responseCode, given_up: givenUp }, 'a message could not be sent');
    if (givenUp) return;
    const again = () => {
      cancel();
      postponed.delete(again);
      attempt(message, failures + 1);
    };
    const cancel = timers.after(afterMs, again);
    postponed.add(again);
  }

  return {
    send: (message: Message) => attempt(message, 0),

    /** What is under way is finished; what waits to be tried again is tried once more, at once. */
    async close(): Promise<void> {
      closing = true;
      for (const again of postponed) again();
      await queue.idle();
      transport.close();
    },
  };
}
