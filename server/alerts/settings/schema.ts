import Type, { type Static } from 'typebox';
import {
  Guid,
  inputSchema,
  strictObject,
  Timestamp,
  viewSchema,
} from '../../infrastructure/http/requests/schemas.ts';
import { MAX_WAITING_THRESHOLD } from '../kinds.ts';
import type { Slack, Thresholds } from './settings.ts';
import type { SlackTestResult } from './slack-test.ts';

const MAX_SUBSCRIPTION_THRESHOLDS = 20;
const MAX_URL_CHARACTERS = 1024;

const Threshold = Type.Integer({
  minimum: 1,
  maximum: MAX_WAITING_THRESHOLD,
  description: 'An alert is raised when more deliveries than this wait for an endpoint',
  example: 1_000,
});
const SubscriptionThreshold = { guid: Guid, waiting_threshold: Threshold };

export const AlertSettingsView = viewSchema('AlertSettings', {
  waiting_threshold: Type.Optional({ ...Threshold, description: `For every endpoint. Absent: no alert` }),
  subscriptions: Type.Array(Type.Object(SubscriptionThreshold, { title: 'SubscriptionThreshold' }), {
    description: 'Numbers of single endpoints, which replace the number for every endpoint',
  }),
});
export const AlertSettingsChanges = inputSchema('AlertSettingsChanges', {
  waiting_threshold: Type.Optional({
    ...Threshold,
    minimum: 0,
    description: 'For every endpoint; 0 for none',
  }),
  subscriptions: Type.Optional(
    Type.Array(strictObject(SubscriptionThreshold), {
      maxItems: MAX_SUBSCRIPTION_THRESHOLDS,
      description: 'All numbers of single endpoints: missing ones are removed',
      example: [],
    }),
  ),
});

export function viewThresholds({ waiting, bySubscription }: Thresholds): Static<typeof AlertSettingsView> {
  return {
    ...(waiting === undefined ? {} : { waiting_threshold: waiting }),
    subscriptions: Object.entries(bySubscription).map(([guid, waiting_threshold]) => ({
      ...{ guid, waiting_threshold },
    })),
  };
}

export const SlackView = viewSchema('AlertSlack', {
  url: Type.Optional(
    Type.String({
      description: 'Masked: it is a secret. Absent without a URL',
      example: 'https://hooks.slack.com/…x7Qz',
    }),
  ),
  posted_at: Type.Optional({ ...Timestamp, description: 'The last message' }),
  failure: Type.Optional(
    Type.String({
      description: 'Why the last message failed; absent after a success',
      example: 'answered 404',
    }),
  ),
});
export const SlackChanges = inputSchema('AlertSlackChanges', {
  url: Type.String({
    minLength: 1,
    maxLength: MAX_URL_CHARACTERS,
    description: `Incoming webhook URL in Slack's format, https, at most ${MAX_URL_CHARACTERS} characters`,
    example: 'https://hooks.slack.com/services/T0000/B0000/EXAMPLE',
  }),
});
export const SlackTestView = viewSchema('AlertSlackTest', {
  posted: Type.Boolean({ description: 'Whether the URL answered with 2xx' }),
  failure: Type.Optional(Type.String({ description: 'Why not', example: 'answered 404' })),
});

export function viewSlack({ shown, postedAt, failure }: Slack): Static<typeof SlackView> {
  return {
    ...(shown === undefined ? {} : { url: shown }),
    ...(postedAt === undefined ? {} : { posted_at: postedAt.toISOString() }),
    ...(failure === undefined ? {} : { failure }),
  };
}

export function viewSlackTest({ posted, failure }: SlackTestResult): Static<typeof SlackTestView> {
  return { posted, ...(failure === undefined ? {} : { failure }) };
}
