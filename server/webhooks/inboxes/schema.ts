import Type, { type Static } from 'typebox';
import {
  Guid,
  inputSchema,
  nameSchema,
  Timestamp,
  viewSchema,
} from '../../infrastructure/http/requests/schemas.ts';
import { ANSWERS, SLOW_MS } from './answers.ts';
import { SIGNATURES } from './signature-check.ts';
import type { Inbox, InboxRequest, InboxRequestSummary } from './store.ts';

const MAX_NAME_CHARACTERS = 128;

const Name = nameSchema(MAX_NAME_CHARACTERS, 'First look');
const Answer = Type.Enum([...ANSWERS], {
  title: 'InboxAnswer',
  description: `success: 200; error: 500; slow: 200 after ${SLOW_MS / 1_000} seconds; hang: no answer; refuse: closes the connection`,
  example: 'success',
});
const Signature = Type.Enum([...SIGNATURES], {
  title: 'InboxSignature',
  description: 'valid: made with the signing key of a subscription that delivers to this inbox',
  example: 'valid',
});

export const NewInbox = inputSchema('NewInbox', { name: Name, answer: Type.Optional(Answer) });
export const InboxChanges = inputSchema('InboxChanges', {
  name: Type.Optional(Name),
  answer: Type.Optional(Answer),
});

export const InboxView = viewSchema('Inbox', {
  guid: Guid,
  name: Name,
  url: Type.String({
    description: 'The URL for a subscription in the sandbox. It accepts requests without a token',
    example: 'https://api.portico.example/portico-inbox/4f8e1c0a9b7d2e6f3a5c8b1d0e9f7a6b',
  }),
  answer: Answer,
  created_at: Timestamp,
});

const nullableGuid = (description: string) => Type.Union([Guid, Type.Null()], { description });
const summary = {
  guid: Guid,
  received_at: Timestamp,
  event_type: Type.Union([Type.String({ example: 'transfer.completed' }), Type.Null()], {
    description: 'event_type of the body',
  }),
  event_guid: nullableGuid('The event, from the header webhook-id'),
  signature: Signature,
  subscription_guid: nullableGuid('The subscription whose key made the signature'),
  address: Type.Union([Type.String({ example: '203.0.113.7' }), Type.Null()], {
    description: 'The source address of the request',
  }),
  answer: Answer,
  body_bytes: Type.Integer({ description: 'The size of the body', example: 512 }),
};
export const InboxRequestSummaryView = viewSchema('InboxRequestSummary', summary);
export const InboxRequestView = viewSchema('InboxRequest', {
  ...summary,
  headers: Type.Array(
    Type.Object({
      name: Type.String({ example: 'webhook-id' }),
      value: Type.String({ example: '0199e5a4c1b27d3e8f60a1b2c3d4e5f6' }),
    }),
    { description: 'As they arrived, in their order' },
  ),
  body: Type.String({ description: 'As it arrived', example: '{"event_type":"transfer.completed"}' }),
  body_encoding: Type.Enum(['utf-8', 'base64'], {
    description: 'base64 if the body is not UTF-8',
    example: 'utf-8',
  }),
});

export function viewInbox(inbox: Inbox & { url: string }): Static<typeof InboxView> {
  const { guid, name, url, answer, created_at } = inbox;
  return { guid, name, url, answer, created_at: created_at.toISOString() };
}

export function viewSummary(request: InboxRequestSummary): Static<typeof InboxRequestSummaryView> {
  const { guid, event_type, event_guid, signature, subscription_guid, address, answer, body_bytes } = request;
  return {
    ...{ guid, received_at: request.received_at.toISOString(), event_type, event_guid },
    ...{ signature, subscription_guid, address, answer, body_bytes },
  };
}

export function viewRequest(request: InboxRequest): Static<typeof InboxRequestView> {
  const { body, headers } = request;
  const text = body.toString('utf8');
  const isText = Buffer.from(text, 'utf8').equals(body);
  return {
    ...viewSummary({ ...request, body_bytes: body.length }),
    headers: headers.map(([name, value]) => ({ name, value })),
    body: isText ? text : body.toString('base64'),
    body_encoding: isText ? 'utf-8' : 'base64',
  };
}
