import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { EXPECTED, run, startService } from './service.ts';

const GENERATOR = 'openapi-python-client';
const CLIENT = `
import json, sys

import httpx

from portico_client import AuthenticatedClient
from portico_client.api.customers import create_customer
from portico_client.api.subscriptions import list_subscriptions
from portico_client.models import Customer, Error, NewCustomer, NewCustomerType

base_url, client_id, client_secret, user_token = sys.argv[1:]
# Not create_token: the generator writes a wrong import where an operation takes JSON and forms.
form = {"grant_type": "client_credentials", "scope": "customers:read customers:execute"}
auth = (client_id, client_secret)
token = httpx.post(base_url + "/oauth/token", data=form, auth=auth, timeout=None).json()["access_token"]
portico = AuthenticatedClient(base_url=base_url, token=token)

created = create_customer.sync(
    client=portico, body=NewCustomer(type_=NewCustomerType.INDIVIDUAL, name="Ada Lovelace")
)
assert isinstance(created, Customer)

subscriptions = list_subscriptions.sync(
    client=AuthenticatedClient(base_url=base_url, token=user_token), per_page=10, environment="sandbox"
)

class Untyped(NewCustomer):
    def to_dict(self):
        return {"name": self.name}

refused = create_customer.sync(client=portico, body=Untyped(type_=NewCustomerType.INDIVIDUAL, name="Ada Lovelace"))
assert isinstance(refused, Error)

print(json.dumps({"customer": created.name.full, "subscriptions": subscriptions.total, "error": refused.message_code}))
`;

/** The interpreter that the generator is installed in has the libraries that a generated client needs. */
async function interpreterOfGenerator(): Promise<string | undefined> {
  for (const directory of (process.env.PATH ?? '').split(delimiter)) {
    const [line = ''] = (await readFile(join(directory, GENERATOR), 'utf8').catch(() => '')).split('\n', 1);
    if (line.startsWith('#!')) return line.slice(2).trim();
  }
  return undefined;
}

const python = await interpreterOfGenerator();
const skip = python === undefined && `${GENERATOR} is not on the PATH`;

test('a client of openapi-python-client works', { skip }, async () => {
  const { document, directory, credentials } = await startService();
  const path = join(directory, 'openapi.json');
  await writeFile(path, JSON.stringify(document));
  await run(GENERATOR, ['generate', '--path', path, '--output-path', join(directory, 'generated')]);
  const script = join(directory, 'generated', 'client.py');
  await writeFile(script, CLIENT);
  const { stdout } = await run(String(python), [script, ...credentials]);
  assert.deepEqual(JSON.parse(stdout), EXPECTED);
});
