import { randomBytes, randomUUID } from 'node:crypto';
import { systemClock } from '../server/infrastructure/runtime/clock.ts';
import { createGuids } from '../server/infrastructure/runtime/guid.ts';
import { createRandom } from '../testing/api/random.ts';
import type { Caller } from './calls.ts';
import type { Sent, SentEvent, SentTransfer } from './sent.ts';
import { OPERATOR_TOKEN, type Tenant } from './tenants.ts';

const TICK_MS = 100;
const MAX_BATCH = 60;
/** Of the events, as calls with one event; the rest comes in batches. */
const SINGLE = 0.4;
const TRANSFERS_PER_SECOND = 2;
/** Clients that wait for an answer; beyond that the load pauses, as it does in any system with limits. */
const MAX_IN_FLIGHT = 400;
/** Of the calls. The others are made once, and their fate stays unknown if there was no 2xx. */
const INSISTING = 0.5;

export type Load = ReturnType<typeof startLoad>;

/** Events at a steady rate, alone and in batches, and transfers of partners, until it is stopped. */
export function startLoad({
  caller,
  tenants,
  rate,
  seed,
}: {
  caller: Caller;
  tenants: readonly Tenant[];
  rate: number;
  seed: number;
}) {
  const random = createRandom(seed);
  const guids = createGuids({ clock: systemClock, randomBytes });
  const events: SentEvent[] = [];
  const transfers: SentTransfer[] = [];
  const pending = new Set<Promise<void>>();
  const counts = { acknowledged: 0, acceptedBefore: 0, neverAccepted: 0 };
  const owed = { single: 0, batch: 0, transfers: 0 };
  let batchSize = MAX_BATCH;

  function track(work: Promise<void>): void {
    pending.add(work);
    void work.finally(() => pending.delete(work));
  }

  const pickTenant = () => tenants[Math.floor(random() * tenants.length)] as Tenant;

  /** A batch has events of several Organizations, as the core reports them. */
  async function postEvents(count: number): Promise<void> {
    const insists = random() < INSISTING;
    const posted = Array.from({ length: count }, () => {
      const { organizationGuid, bankGuid } = pickTenant();
      return {
        ...{ guid: guids.next(), organization_guid: organizationGuid, bank_guid: bankGuid },
        ...{ event_type: 'trade.completed', object_guid: guids.next() },
      };
    });
    const { fate, body, calls } = await caller.send({
      ...{ name: 'POST /operator/events', path: '/operator/events', token: OPERATOR_TOKEN, insists },
      payload: { events: posted },
    });
    for (const event of posted) events.push({ ...event, environment: 'sandbox', fate });
    if (fate === 'acknowledged') {
      counts.acknowledged += count;
      if (calls > 1 && body?.created === 0) counts.acceptedBefore += 1;
    } else if (insists) counts.neverAccepted += 1;
  }

  async function createTransfer(): Promise<void> {
    const insists = random() < INSISTING;
    const { organizationGuid, customerGuid, token } = pickTenant();
    const { fate, body } = await caller.send({
      ...{ name: 'POST /api/transfers', path: '/api/transfers', token, insists },
      payload: { transfer_type: 'book', asset: 'USD', amount: 1_250, customer_guid: customerGuid },
      idempotencyKey: randomUUID(),
    });
    transfers.push({
      organizationGuid,
      fate,
      guid: fate === 'acknowledged' ? String(body?.guid) : undefined,
    });
    if (fate !== 'acknowledged' && insists) counts.neverAccepted += 1;
  }

  function tick(): void {
    if (caller.counts.inFlight >= MAX_IN_FLIGHT) return;
    const share = (rate * TICK_MS) / 1_000;
    owed.single += share * SINGLE;
    owed.batch += share * (1 - SINGLE);
    owed.transfers += (TRANSFERS_PER_SECOND * TICK_MS) / 1_000;
    for (; owed.single >= 1; owed.single -= 1) track(postEvents(1));
    if (owed.batch >= batchSize) {
      track(postEvents(batchSize));
      owed.batch -= batchSize;
      batchSize = 2 + Math.floor(random() * (MAX_BATCH - 1));
    }
    for (; owed.transfers >= 1; owed.transfers -= 1) track(createTransfer());
  }

  const ticking = setInterval(tick, TICK_MS);
  return {
    counts: counts as Readonly<typeof counts>,
    sent: { events, transfers } as Sent,
    stop: () => clearInterval(ticking),
    /** Waits until every call has its fate. */
    async finish(): Promise<void> {
      clearInterval(ticking);
      while (pending.size > 0) await Promise.all(pending);
    },
  };
}
