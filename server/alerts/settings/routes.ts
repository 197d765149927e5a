import { unwrap } from '../../infrastructure/http/errors.ts';
import { registerGet, registerPatch } from '../../infrastructure/http/requests/resource-routes.ts';
import { answers, strictObject } from '../../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../../infrastructure/http/server.ts';
import { registerCreate } from '../../infrastructure/idempotency/create-routes.ts';
import { actorOf, inBothEnvironments, requires, withFreshProof } from '../../tokens/access/access.ts';
import {
  AlertSettingsChanges,
  AlertSettingsView,
  SlackChanges,
  SlackTestView,
  SlackView,
  viewSlack,
  viewSlackTest,
  viewThresholds,
} from './schema.ts';
import type { AlertSettings } from './settings.ts';
import type { SlackTest } from './slack-test.ts';

type Deps = { settings: AlertSettings; slackTest: SlackTest };

/** The numbers and the Slack URL of an Organization. Members read them, Founders and Key Admins change them. */
export function registerAlertSettings(api: HttpServer, { settings, slackTest }: Deps): void {
  const tags = ['Alerts'];
  const read = requires(['user'], 'organizations:read');
  const write = inBothEnvironments(requires(['user'], 'organizations:write'));
  // The URL receives what concerns the security of the Organization.
  const writeSlack = withFreshProof(write);
  const params = strictObject({});
  const thresholds = { tags, params, item: AlertSettingsView, view: viewThresholds };
  const slack = {
    tags,
    params,
    item: SlackView,
    view: viewSlack,
    activity: ['posted_at', 'failure'] as const,
  };

  registerGet(api, '/alert_settings', {
    ...thresholds,
    access: read,
    operationId: 'getAlertSettings',
    summary: 'Get the numbers of waiting deliveries above which an alert is raised',
    get: ({ caller }) => settings.thresholds(caller.organizationGuid),
  });

  registerPatch(api, '/alert_settings', {
    ...thresholds,
    access: write,
    operationId: 'updateAlertSettings',
    summary: 'Change the numbers of waiting deliveries above which an alert is raised',
    body: AlertSettingsChanges,
    change: (request, precondition) => {
      const { waiting_threshold: waiting, subscriptions } = request.body;
      const bySubscription =
        subscriptions && Object.fromEntries(subscriptions.map((each) => [each.guid, each.waiting_threshold]));
      const { organizationGuid } = request.caller;
      const input = { waiting, bySubscription };
      return settings.changeThresholds(actorOf(request), organizationGuid, input, precondition);
    },
  });

  registerGet(api, '/alert_slack', {
    ...slack,
    access: read,
    operationId: 'getAlertSlack',
    summary: 'Get the masked Slack URL and the outcome of the last message',
    get: ({ caller }) => settings.slack(caller.organizationGuid),
  });

  registerPatch(api, '/alert_slack', {
    ...slack,
    access: writeSlack,
    operationId: 'updateAlertSlack',
    summary: 'Set the incoming webhook URL that receives every alert, in the format of Slack',
    body: SlackChanges,
    errors: [422],
    change: (request, precondition) =>
      settings.setSlack(actorOf(request), request.caller.organizationGuid, request.body.url, precondition),
  });

  api.delete(
    '/alert_slack',
    {
      config: writeSlack.config,
      schema: {
        ...writeSlack.documented,
        operationId: 'deleteAlertSlack',
        summary: 'Remove the Slack URL',
        tags,
        response: answers({ 204: { type: 'null' } }, 401, 403, 413, 415),
      },
    },
    async (request, reply) => {
      unwrap(await settings.removeSlack(actorOf(request), request.caller.organizationGuid));
      return reply.code(204).send();
    },
  );

  registerCreate(api, '/alert_slack/test', {
    access: write,
    operationId: 'testAlertSlack',
    summary: 'Post a test message to the Slack URL and get its outcome',
    tags,
    errors: [404],
    status: 200,
    item: SlackTestView,
    view: viewSlackTest,
    create: (request, recordAnswer) => {
      const { caller, call } = request;
      return slackTest(actorOf(request), caller.organizationGuid, recordAnswer, call?.runApart);
    },
  });
}
