import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Failure } from '../../shared/Failure.tsx';
import { useWorkspace } from '../../shell/workspace-context.ts';

const MAX_NAME_CHARACTERS = 128;
const MAX_URL_CHARACTERS = 1_024;

/** Name and address; the environment is that of the selected bank. */
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
  const form = useForm({
    initialValues: { name: initialName, url: initialUrl },
    validate: {
      name: (name) => (name.trim() === '' ? 'Give it a name' : null),
      url: (url) => urlProblem(url.trim(), environment),
    },
    validateInputOnBlur: true,
  });
  return (
    <form onSubmit={form.onSubmit(({ name, url }) => onSubmit({ name: name.trim(), url: url.trim() }))}>
      <Stack>
        <TextInput
          label="Name"
          placeholder="Payments backend"
          maxLength={MAX_NAME_CHARACTERS}
          required
          data-autofocus
          {...form.getInputProps('name')}
        />
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
        {error ? <Failure error={error} /> : null}
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>
            {cancel}
          </Button>
          <Button type="submit" loading={pending}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** What can be seen here; the server has the last word. */
function urlProblem(text: string, environment: string): string | null {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) return 'An absolute address that begins with https://';
  if (url.protocol === 'http:' && environment === 'production') return 'In production only https';
  if (url.username !== '' || url.password !== '') return 'Without user name and password';
  return url.hash === '' ? null : 'Without a # part';
}
