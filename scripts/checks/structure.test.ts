import assert from 'node:assert/strict';
import { test } from 'node:test';
import { violationsIn } from './structure.ts';

const MODULES = {
  'server/files/service.ts': '',
  'server/people/members/service.ts': '',
};

function rulesBroken(sources: Record<string, string>): string[] {
  return violationsIn(new Map(Object.entries({ ...MODULES, ...sources }))).map(
    ({ file, rule }) => `${file}: ${rule}`,
  );
}

const FORBIDDEN: Record<string, Record<string, string>> = {
  'routes do not import stores': {
    'server/files/upload-routes.ts': "import type { FileRow } from './store.ts';",
  },
  'stores do not import services or routes': {
    'server/files/store.ts': "export { limit } from './service.ts';",
  },
  "modules do not import another module's store": {
    'server/files/state.ts': "import { selectMember } from '../people/members/store.ts';",
  },
  'only stores and server/infrastructure/database contain SQL': {
    'server/files/state.ts': "import { type RawBuilder } from 'kysely';",
  },
  'server/infrastructure does not import product folders': {
    'server/infrastructure/http/server.ts': "const log = await import('../../request-log/hook.ts');",
  },
  'dashboard imports only types, and values of files that run in a browser, from server': {
    'dashboard/pages/Files.tsx': "import { limit } from '../../server/files/limits.ts';",
    'server/files/limits.ts': "import { a } from './a.ts';",
    'server/files/a.ts': "import { readFileSync } from 'node:fs';",
  },
  'settings and the command operator load no library of the server': {
    'server/commands/operator/files.ts': "import { HEADER } from '../../operator/keys.ts';",
    'server/operator/keys.ts': "import Type from 'typebox';",
  },
  'only tests import testing/': {
    'server/files/state.ts': "import '../../testing/app/app.ts';",
  },
};

for (const [rule, sources] of Object.entries(FORBIDDEN))
  test(`reports a violation of "${rule}"`, () => {
    const [file] = Object.keys(sources);
    const broken = rulesBroken(sources);
    assert.equal(broken.length, 1, broken.join('\n'));
    assert.ok(String(broken[0]).startsWith(`${file}: ${rule} (`), String(broken[0]));
  });

test('accepts the allowed directions, and tests that import everything', () => {
  const broken = rulesBroken({
    'server/files/routes.ts': "import { createFiles } from './service.ts';",
    'server/files/upload-store.ts': "import { sql } from 'kysely';",
    'server/infrastructure/database/planner.ts': "import { sql } from 'kysely';",
    'server/files/uploads/uploads.ts': "import { insertUpload } from '../store.ts';",
    'server/files/state.test.ts': "import '../../testing/app/app.ts'; import '../people/members/store.ts';",
    'server/files/testing/site.ts': "import '../../../testing/app.ts';",
    'dashboard/api/types.ts': "import type { File } from '../../server/files/service.ts';",
    'dashboard/api/permissions.ts': "import { scopesOf } from '../../server/tokens/scopes.ts';",
    'server/tokens/scopes.ts': "import type { Clock } from 'node:timers';",
  });
  assert.deepEqual(broken, []);
});
