import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyOf, type Delivery } from './delivery.ts';

/** The signed request body (contract, section 7). */
const DELIVERY: Delivery = {
  guid: '1'.repeat(32),
  subscriptionGuid: '2'.repeat(32),
  organizationGuid: '3'.repeat(32),
  environment: 'sandbox',
  eventGuid: '4'.repeat(32),
  bankGuid: '5'.repeat(32),
  eventType: 'transfer.completed',
  objectGuid: '6'.repeat(32),
  attemptCount: 0,
  createdAt: new Date(0),
  isEarly: false,
};

test('the body is the six fields of the event in fixed order', () => {
  assert.equal(
    bodyOf(DELIVERY),
    `{"guid":"${'4'.repeat(32)}","organization_guid":"${'3'.repeat(32)}","bank_guid":"${'5'.repeat(32)}",` +
      `"event_type":"transfer.completed","object_guid":"${'6'.repeat(32)}","environment":"sandbox"}`,
  );
});

test('a missing bank is omitted and the order of the other fields stays', () => {
  assert.deepEqual(Object.entries(JSON.parse(bodyOf({ ...DELIVERY, bankGuid: null }))), [
    ['guid', DELIVERY.eventGuid],
    ['organization_guid', DELIVERY.organizationGuid],
    ['event_type', DELIVERY.eventType],
    ['object_guid', DELIVERY.objectGuid],
    ['environment', DELIVERY.environment],
  ]);
});

test('every attempt sends the same bytes, whatever the column order', () => {
  const retried = { ...DELIVERY, guid: '7'.repeat(32), attemptCount: 12, createdAt: new Date(1) };
  const reversed = Object.fromEntries(Object.entries(DELIVERY).reverse()) as Delivery;
  for (const other of [retried, reversed]) assert.equal(bodyOf(other), bodyOf(DELIVERY));
});
