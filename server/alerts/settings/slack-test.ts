import type { Organizations } from '../../credentials/organizations/service.ts';
import type { Actor, Audit } from '../../infrastructure/audit/service.ts';
import type { Database } from '../../infrastructure/database/database.ts';
import { type RunApart, runInPlace } from '../../infrastructure/http/limits/calls-in-flight.ts';
import { type RecordAnswer, recordNothing } from '../../infrastructure/idempotency/record-answer.ts';
import type { RateLimit, RateLimits } from '../../infrastructure/rate-limits/service.ts';
import { type Failure, isFailure } from '../../infrastructure/runtime/failure.ts';
import { oneLine } from '../../infrastructure/runtime/one-line.ts';
import type { Transport } from '../../webhooks/deliveries/sending/transport.ts';
import { escapeMarkup, postToSlack } from '../notices/slack.ts';
import type { AlertSettings } from './settings.ts';

export type SlackTest = ReturnType<typeof createSlackTest>;
export type SlackTestResult = { posted: boolean; failure: string | undefined };

const SLACK_TEST_LIMIT = 10;
const PER_ORGANIZATION: RateLimit = {
  name: 'slack_test',
  limit: SLACK_TEST_LIMIT,
  windowMs: 5 * 60_000,
  code: 'api_rate_limit_exceeded',
};

type Deps = {
  database: Database;
  audit: Audit;
  organizations: Organizations;
  rateLimits: RateLimits;
  settings: AlertSettings;
  transport: Transport;
  baseUrl: string;
};

/** Posts a test message to the Slack URL and returns its outcome. `runApart` keeps a silent URL from blocking other calls. */
export function createSlackTest(deps: Deps) {
  const { database, audit, organizations, rateLimits, settings, transport, baseUrl } = deps;
  return async function testSlack(
    actor: Actor,
    organizationGuid: string,
    recordAnswer: RecordAnswer<SlackTestResult> = recordNothing,
    runApart: RunApart = runInPlace,
  ): Promise<SlackTestResult | Failure> {
    const organization = await organizations.get(organizationGuid);
    if (isFailure(organization)) return organization;
    const target = await settings.slackTarget(organizationGuid);
    const refused = await rateLimits.use(PER_ORGANIZATION, organizationGuid);
    if (refused) return refused;
    const name = escapeMarkup(oneLine(organization.name));
    const text = `Test message: alerts of ${name} on ${baseUrl} arrive here.`;
    const record = (result: SlackTestResult) =>
      database.transaction(async (transaction) => {
        // A freeze does not wait for a silent URL.
        const frozen = await organizations.checkFrozen(organizationGuid, transaction);
        if (frozen) return frozen;
        await audit.record(transaction, actor, {
          action: 'alert_settings.test',
          organizationGuid,
          objectType: 'organization',
          objectId: organizationGuid,
          changes: { slack: result.failure ?? 'posted' },
        });
        await recordAnswer(transaction, result);
        return result;
      });
    if (!target) return record({ posted: false, failure: 'no URL is set, or it is not https' });
    return runApart(async (inSlot) => {
      const outcome = await postToSlack(transport, target, text);
      const failure = outcome.kind === 'failed' ? outcome.reason : undefined;
      return inSlot(async () => {
        await settings.recordSlackOutcome(organizationGuid, target, failure);
        return record({ posted: outcome.kind === 'posted', failure });
      });
    });
  };
}
