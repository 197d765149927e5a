import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { migrateTo } from '../../../../../testing/database/database.ts';
import { createLog } from '../../../runtime/log.ts';
import { Secret } from '../../../runtime/secret.ts';
import { createDatabase } from '../../database.ts';
import { grantToService } from '../../grants.ts';
import { migrate } from '../../migrate.ts';
import { superuserUrlOf } from '../testing/superuser-url.ts';
import { query, start, temporaryDirectory } from '../testing/temporary-server.ts';
import { OWNER, SERVICE } from './roles.ts';

const log = createLog({ level: 'silent', terminal: false });
const open = (url: string) => createDatabase({ url: new Secret(url), connections: 2, log });

const ATTRIBUTES = `select rolname, rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls, rolcanlogin
  from pg_roles where rolname like 'portico_%' order by rolname`;

test('a database owned by the superuser is transferred to the owner at the next start', async (t) => {
  const dataDir = await temporaryDirectory(t);
  const before = await start(t, dataDir);
  const superuserUrl = await superuserUrlOf(dataDir, before);
  const superuser = open(superuserUrl);
  await superuser.maintain((queries) => migrateTo(queries, '0016_consignments'));
  await superuser.close();
  const insert = `insert into organizations (guid, name, live, features, created_at, updated_at)
    values (gen_random_uuid(), 'Acme', false, '{}', '2026-01-01', '2026-01-01')`;
  await query(superuserUrl, insert);
  await query(superuserUrl, `alter role ${SERVICE} superuser`);
  await before.stop();
  for (const role of ['owner', 'service']) await rm(join(dataDir, `postgres.${role}.password`));

  const after = await start(t, dataDir);
  assert.notEqual(after.url, before.url, 'lost passwords are replaced');
  assert.deepEqual(await query(after.url, ATTRIBUTES), [
    ...[OWNER, false, false, false, false, false, true],
    ...[SERVICE, false, false, false, false, false, true],
  ]);
  const owners = `select distinct relowner::regrole::text from pg_class
    where relnamespace = 'public'::regnamespace
    union select distinct proowner::regrole::text from pg_proc where pronamespace = 'public'::regnamespace
    union select datdba::regrole::text from pg_database where datname = current_database()`;
  assert.deepEqual(await query(after.ownerUrl, owners), [OWNER]);

  const owner = open(after.ownerUrl);
  assert.ok((await migrate(owner)).length > 0);
  await grantToService(owner, SERVICE);
  await owner.close();
  assert.deepEqual(await query(after.url, 'select name from organizations'), ['Acme']);
  await query(after.url, insert);
});
