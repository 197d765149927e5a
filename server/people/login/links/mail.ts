import type { Timers } from '../../../infrastructure/runtime/clock.ts';
import { createFairQueue, SHED } from '../../../infrastructure/runtime/fair-queue.ts';
import type { Log } from '../../../infrastructure/runtime/log.ts';
import type { Secret } from '../../../infrastructure/runtime/secret.ts';

export type Message = {
  to: string;
  subject: string;
  text: string;
  html?: string;
  messageId?: string;
  headers?: Record<string, string>;
};
export type Mail = NonNullable<ReturnType<typeof createMail>>;

const MAX_CONNECTIONS = 2;
const CONNECT_TIMEOUT_MS = 10_000;
const SOCKET_TIMEOUT_MS = 30_000;
const MAX_QUEUED_MESSAGES = 1_000;
const RETRY_DELAYS_MS = [5_000, 60_000];

/** Undefined without a mail server. Sends in the background; permanent failures are logged. */
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
  let opened: ReturnType<typeof openTransport> | undefined;
  const queue = createFairQueue({
    atOnce: MAX_CONNECTIONS,
    classes: { message: { maxWaiting: MAX_QUEUED_MESSAGES, maxWaitingPerSource: MAX_QUEUED_MESSAGES } },
  });
  const retries = new Set<() => void>();
  let closing = false;

  const deliver = async (message: Message): Promise<void> => {
    opened ??= openTransport(smtpUrl);
    await (await opened).sendMail({ from, ...message });
  };

  function attempt(message: Message, failures: number): void {
    const send = () => deliver(message).catch((error: unknown) => scheduleRetry(message, failures, error));
    void queue.run('message', 'all', send).then((outcome) => {
      if (outcome === SHED) log.error('dropped a mail message: queue full');
    });
  }

  /** Codes from 500 on are permanent failures (RFC 5321, section 4.2.1). */
  function scheduleRetry(message: Message, failures: number, error: unknown): void {
    // The error text is not logged: it may quote the message, and with it the link.
    const { code, responseCode = 0 } = error as { code?: string; responseCode?: number };
    const delayMs = RETRY_DELAYS_MS[failures];
    const givenUp =
      delayMs === undefined || responseCode >= 500 || closing || retries.size >= MAX_QUEUED_MESSAGES;
    log.warn({ code, response_code: responseCode, given_up: givenUp }, 'sending mail failed');
    if (givenUp) return;
    const retry = () => {
      cancel();
      retries.delete(retry);
      attempt(message, failures + 1);
    };
    const cancel = timers.after(delayMs, retry);
    retries.add(retry);
  }

  return {
    send: (message: Message) => attempt(message, 0),

    /** Sends once and rejects on failure, for messages that are stored until they are sent. */
    deliver,

    /** Waits for messages in progress, and retries the postponed ones once, immediately. */
    async close(): Promise<void> {
      closing = true;
      for (const retry of retries) retry();
      await queue.idle();
      (await opened)?.close();
    },
  };
}

async function openTransport(smtpUrl: Secret) {
  // Loaded with the first message: it costs a tenth of the CPU of a start.
  const { createTransport } = await import('nodemailer');
  return createTransport({
    url: smtpUrl.reveal(),
    pool: true,
    maxConnections: MAX_CONNECTIONS,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
    // Messages contain all of their content: disable nodemailer's loading of content from files and URLs.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}
