import { Button, Group, Radio, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { Subscription } from '../../api/types.ts';
import { useSubscriptions } from '../../shared/deliveries/use-subscriptions.ts';
import { useLeaveGuard } from '../../shared/forms/LeaveGuard.tsx';
import { useChangedForm } from '../../shared/forms/use-changed-form.ts';
import { SigningKeySecret } from '../subscriptions/SigningKeySecret.tsx';
import { SubscriptionForm } from '../subscriptions/SubscriptionForm.tsx';
import { useSubscriptionApi } from '../subscriptions/use-subscription-api.ts';

/** Calls `onDone` with undefined when the step is skipped. */
export function SubscriptionStep({ onDone }: { onDone: (subscription: Subscription | undefined) => void }) {
  const { create } = useSubscriptionApi();
  const existing = useSubscriptions().filter(({ state }) => state === 'active' || state === 'storing');
  const [chosen, setChosen] = useState<string>();
  const creation = useMutation({ mutationFn: create, gcTime: 0 });
  const created = creation.data;
  const { isChanged, handlers } = useChangedForm();
  useLeaveGuard(isChanged);
  return (
    <Stack maw={620} py="sm">
      {created ? (
        <SigningKeySecret created={created} onStored={() => onDone(created)} doneLabel="Continue" />
      ) : (
        <>
          {existing.length > 0 ? (
            <Group align="flex-end" justify="space-between">
              <Radio.Group label="Use an existing subscription" value={chosen ?? ''} onChange={setChosen}>
                <Stack gap="xs" mt="xs">
                  {existing.map(({ guid, name, url }) => (
                    <Radio key={guid} value={guid} label={name} description={url} />
                  ))}
                </Stack>
              </Radio.Group>
              <Button
                disabled={chosen === undefined}
                onClick={() => onDone(existing.find(({ guid }) => guid === chosen))}
              >
                Continue
              </Button>
            </Group>
          ) : null}
          <div {...handlers}>
            <SubscriptionForm
              action={existing.length > 0 ? 'Create another' : 'Create subscription'}
              cancel="Skip webhooks"
              pending={creation.isPending}
              error={creation.error}
              onSubmit={creation.mutate}
              onCancel={() => onDone(undefined)}
            />
          </div>
        </>
      )}
    </Stack>
  );
}
