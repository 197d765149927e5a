import { sql } from 'kysely';
import {
  intArray,
  momentArray,
  smallintArray,
  textArray,
  uuidArray,
} from '../../../infrastructure/database/arrays.ts';
import type { Transaction } from '../../../infrastructure/database/database.ts';
import type { Outcome } from '../delivery.ts';
import { USER_AGENT } from '../sending/signature.ts';

/** Inserts the attempts of recorded outcomes, except stored ones. */
export async function insertAttempts(transaction: Transaction, outcomes: readonly Outcome[]): Promise<void> {
  await sql`
    /* prepared: insert_attempts, pipelined */
    insert into delivery_attempts (delivery_guid, number, attempted_at, duration_ms, outcome, response_status,
                                   response_excerpt, reason, url, address, response_headers, user_agent)
    select guid, number, attempted_at, duration_ms, result, status, excerpt, reason, url, address,
           response_headers::jsonb, case when url is not null then ${USER_AGENT}::text end
    from unnest(
      ${uuidArray(outcomes.map(({ delivery }) => delivery.guid))},
      ${intArray(outcomes.map(({ delivery }) => delivery.attemptCount + 1))},
      ${momentArray(outcomes.map(({ attemptedAt }) => attemptedAt))},
      ${intArray(outcomes.map(({ durationMs }) => durationMs))},
      ${textArray(outcomes.map(({ result }) => result))},
      ${smallintArray(outcomes.map(({ status }) => status ?? null))},
      ${textArray(outcomes.map(({ excerpt }) => excerpt || null))},
      ${textArray(outcomes.map(({ reason }) => reason ?? null))},
      ${textArray(outcomes.map(({ exchange }) => exchange?.url ?? null))},
      ${textArray(outcomes.map(({ exchange }) => exchange?.addresses.join(', ') || null))},
      ${textArray(outcomes.map(({ exchange }) => headersOf(exchange)))})
    as o(guid, number, attempted_at, duration_ms, result, status, excerpt, reason, url, address, response_headers)
    on conflict do nothing`.execute(transaction);
}

function headersOf(exchange: Outcome['exchange']): string | null {
  return exchange?.responseHeaders ? JSON.stringify(exchange.responseHeaders) : null;
}
