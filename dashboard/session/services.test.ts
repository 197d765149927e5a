import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onlineManager, QueryObserver } from '@tanstack/react-query';
import { LIMITED } from '../../testing/app/patience.ts';
import { unreachable } from '../api/send.ts';
import { createServices } from './services.ts';

/** A call that is held back has no outcome. */

test('a change fails at once while the browser is offline, and is not made later', LIMITED, async () => {
  const { queries } = createServices();
  queries.mount();
  let calls = 0;
  const mutation = queries.getMutationCache().build(queries, {
    mutationFn: async () => {
      calls++;
      throw unreachable();
    },
  });
  onlineManager.setOnline(false);
  await assert.rejects(mutation.execute(undefined), { code: 'unreachable' });
  onlineManager.setOnline(true);
  await queries.resumePausedMutations();
  queries.unmount();
  assert.equal(calls, 1);
});

test('a read fails while the browser is offline, and is repeated when it returns', LIMITED, async () => {
  const { queries } = createServices();
  queries.mount();
  onlineManager.setOnline(false);
  const calls = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let made = 0;
  const observer = new QueryObserver(queries, {
    queryKey: ['banks'],
    queryFn: async () => {
      calls[made++]?.resolve();
      throw unreachable();
    },
    retry: false,
  });
  const unsubscribe = observer.subscribe(() => undefined);
  await calls[0]?.promise;
  onlineManager.setOnline(true);
  await calls[1]?.promise;
  unsubscribe();
  queries.unmount();
  queries.clear();
});
