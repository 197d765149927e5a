import { Alert, Button, Group, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { checkUrl } from '../../../server/subscriptions/url.ts';
import type { Environment } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { FormActions } from '../../shared/forms/FormActions.tsx';
import { NameField, nameProblem } from '../../shared/forms/NameField.tsx';
import { Icon } from '../../shared/text/Icon.tsx';
import { useEndpointLimit } from './use-endpoint-limit.ts';

const MAX_URL_CHARACTERS = 1_024;

/** Name and address; the environment is that of the selected bank. Where there is no room, it says so instead. */
export function SubscriptionForm({
  pending,
  error,
  initialName = '',
  initialUrl = '',
  action = 'Create',
  cancel = 'Cancel',
  onSubmit,
  onCancel,
}: {
  pending: boolean;
  error: unknown;
  initialName?: string;
  initialUrl?: string;
  action?: string;
  cancel?: string;
  onSubmit: (input: { name: string; url: string }) => void;
  onCancel: () => void;
}) {
  const { environment } = useWorkspace();
  const limitMessage = useEndpointLimit();
  const form = useForm({
    initialValues: { name: initialName, url: initialUrl },
    validate: { name: nameProblem, url: (url) => urlProblem(url.trim(), environment) },
    validateInputOnBlur: true,
  });
  // What is on its way may be the one that takes the last place.
  if (limitMessage !== undefined && !pending)
    return (
      <Stack>
        <Alert
          color="yellow"
          variant="light"
          icon={<Icon name="info" />}
          title="There is no room for another"
        >
          {limitMessage}
        </Alert>
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>
            {cancel}
          </Button>
        </Group>
      </Stack>
    );
  return (
    <form onSubmit={form.onSubmit(({ name, url }) => onSubmit({ name: name.trim(), url: url.trim() }))}>
      <Stack>
        <NameField placeholder="Payments backend" {...form.getInputProps('name')} />
        <TextInput
          label="URL"
          description={
            environment === 'production' ? 'https only' : 'https, or http while you try things in the sandbox'
          }
          placeholder="https://api.example.com/portico/events"
          maxLength={MAX_URL_CHARACTERS}
          required
          spellCheck={false}
          {...form.getInputProps('url')}
        />
        <FormActions action={action} cancel={cancel} pending={pending} error={error} onCancel={onCancel} />
      </Stack>
    </form>
  );
}

/** As the server will judge it, in its words. */
function urlProblem(url: string, environment: Environment): string | null {
  const refusal = checkUrl(url, environment);
  return refusal ? refusal.message.replace(/^url /, 'It ') : null;
}
