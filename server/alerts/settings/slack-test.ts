import type { Organizations } from '../../credentials/organizations/service.ts';
import type { Actor, Audit } from '../../infrastructure/audit/service.ts';
import type { Database } from '../../infrastructure/database/database.ts';
import { type RecordAnswer, recordNothing } from '../../infrastructure/idempotency/record-answer.ts';
import type { RateLimit, RateLimits } from '../../infrastructure/rate-limits/service.ts';
import { Failure, isFailure } from '../../infrastructure/runtime/failure.ts';
import { oneLine } from '../../infrastructure/runtime/one-line.ts';
import type { Transport } from '../../webhooks/deliveries/sending/transport.ts';
import { postToSlack } from '../notices/slack.ts';
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

/** Posts a test message to the Slack URL and returns its outcome. */
export function createSlackTest(deps: Deps) {
  const { database, audit, organizations, rateLimits, settings, transport, baseUrl } = deps;
  return async function testSlack(
    actor: Actor,
    organizationGuid: string,
    recordAnswer: RecordAnswer<SlackTestResult> = recordNothing,
  ): Promise<SlackTestResult | Failure> {
    const organization = await organizations.get(organizationGuid);
    if (isFailure(organization)) return organization;
    const target = await settings.slackTarget(organizationGuid);
    if (!target) return new Failure('state_conflict', 'There is no Slack URL; set one first');
    const refused = await rateLimits.use(PER_ORGANIZATION, organizationGuid);
    if (refused) return refused;
    const text = `Test message: alerts of ${oneLine(organization.name)} on ${baseUrl} arrive here.`;
    const outcome = await postToSlack(transport, target, text);
    const result = {
      posted: outcome.kind === 'posted',
      failure: outcome.kind === 'posted' ? undefined : outcome.reason,
    };
    await settings.recordSlackOutcome(organizationGuid, result.failure);
    return database.transaction(async (transaction) => {
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
  };
}
