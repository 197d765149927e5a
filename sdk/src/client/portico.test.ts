import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSdkService } from '../../../testing/packages/sdk.ts';
import { ApiError, ConfigurationError, UnprocessableError } from '../errors.ts';
import { NoCustomerError, NotFoundError } from '../generated/errors.ts';
import { Portico } from './portico.ts';

const service = await createSdkService();
const { tenant } = service;
const portico = service.portico();
const bank_guid = tenant.bankGuid;

test('objects are created, read, changed and deleted', async () => {
  const customer = await portico.customers.create({ type: 'individual', name: 'Ada Lovelace', bank_guid });
  assert.equal(customer.name?.full, 'Ada Lovelace');
  assert.deepEqual(await portico.customers.get(customer.guid), customer);
  const changed = await portico.customers.update(customer.guid, { name: 'Augusta King' });
  assert.equal(changed.name?.full, 'Augusta King');

  const account = await portico.externalBankAccounts.create({
    ...{ name: 'Main', asset: 'USD', customer_guid: customer.guid, bank_guid },
  });
  assert.equal(account.state, 'storing');
  const { body } = service.sent.at(-1) ?? {};
  assert.deepEqual(body, { name: 'Main', asset: 'USD', customer_guid: customer.guid, bank_guid });
});

test('request makes any call and shows the headers; ifMatch keeps a change of another version', async () => {
  const { guid } = await portico.customers.create({ type: 'business', bank_guid });
  const { data, headers, status, requestId } = await portico.request('GET /api/customers/{guid}', {
    path: { guid },
  });
  assert.deepEqual([data.guid, status], [guid, 200]);
  assert.match(String(requestId), /^[0-9a-f]{32}$/);
  const ifMatch = String(headers.get('etag'));
  await portico.customers.update(guid, { name: 'One' }, { ifMatch });
  await assert.rejects(portico.customers.update(guid, { name: 'Two' }, { ifMatch }), {
    name: 'PreconditionFailedError',
    status: 412,
  });
});

test('an error is of the class of its code', async () => {
  await assert.rejects(portico.customers.get('0'.repeat(32)), (error) => {
    assert.ok(error instanceof NotFoundError && error instanceof ApiError);
    assert.deepEqual([error.name, error.status, error.messageCode], ['NotFoundError', 404, 'not_found']);
    assert.match(String(error.requestId), /^[0-9a-f]{32}$/);
    return true;
  });
  const call = { scopes: ['customers:read'] };
  await assert.rejects(portico.customers.token('0'.repeat(32), call), (error) => {
    assert.ok(error instanceof NoCustomerError && error instanceof UnprocessableError);
    return true;
  });
});

test('a customer token sees its customer, by a client of its own', async () => {
  const customer = await portico.customers.create({ type: 'individual', bank_guid });
  const { access_token, expires_in } = await portico.customers.token(customer.guid, {
    scopes: ['customers:read'],
  });
  assert.ok(expires_in > 0);
  const device = new Portico({ token: access_token }, service.runtime);
  assert.deepEqual(await device.customers.list().toArray({ limit: 10 }), [customer]);
});

test('fetchObject returns the object of an event', async () => {
  const { guid } = await portico.customers.create({ type: 'individual', bank_guid });
  const transfer = await portico.transfers.create({
    ...{ transfer_type: 'book', asset: 'USD', amount: 100, customer_guid: guid, bank_guid },
  });
  const found = await portico.fetchObject({ event_type: 'transfer.storing', object_guid: transfer.guid });
  assert.equal(found.amount, transfer.amount);
  const bank = await portico.fetchObject({ event_type: 'bank.created', object_guid: bank_guid });
  assert.equal(bank.name, 'Bank');
});

test('options that cannot work are refused', () => {
  const keys = { clientId: 'a', clientSecret: 'b', scopes: ['customers:read'] };
  for (const [options, message] of [
    [{ ...keys, clientSecret: '' }, /clientId and clientSecret, or token, are required/],
    [{ token: '' }, /clientId and clientSecret, or token, are required/],
    [{ ...keys, scopes: [] }, /scopes are required/],
    [{ ...keys, environment: 'test' as never }, /environment must be sandbox or production/],
    [{ ...keys, baseUrl: 'api.example.com' }, /baseUrl must be an address/],
    [{ ...keys, environment: 'production', baseUrl: 'https://api.example.com' }, /authUrl is required/],
  ] as const)
    assert.throws(
      () => new Portico(options),
      (error) => error instanceof ConfigurationError && message.test(error.message),
    );
});

test('arguments that JavaScript lets through are refused before anything is sent', async () => {
  service.sent.length = 0;
  const missing = undefined as never;
  const { customers } = portico;
  const calls = [
    [() => customers.get(missing), /^An id is required/],
    [() => customers.update(missing, { name: 'Ada' }), /^An id is required/],
    [() => customers.list().toArray(missing), /^limit is required/],
    [() => customers.list().toArray({ limit: Number.NaN }), /^limit is required/],
    ...[0, -1, Number.NaN].map(
      (timeoutMs) => [() => customers.get('a', { timeoutMs }), /^timeoutMs must be above 0/] as const,
    ),
  ] as const;
  for (const [call, message] of calls) await assert.rejects(call(), { name: 'ConfigurationError', message });
  assert.deepEqual(
    service.sent.filter(({ path }) => path.startsWith('/api')),
    [],
  );
});
