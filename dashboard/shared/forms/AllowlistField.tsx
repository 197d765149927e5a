import { ActionIcon, Button, Group, Input, Stack, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import {
  MAX_ALLOWLIST_ENTRIES,
  parseAllowlist,
} from '../../../server/credentials/applications/allowlists/allowlist.ts';
import { accountApi } from '../../api/account.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { notifyFailure } from '../feedback/notify.ts';
import { Icon } from '../text/Icon.tsx';

/** Validates each entry with the server's own rule while it is typed. */
export function AllowlistField({
  value,
  isOptional,
  onChange,
  error,
}: {
  value: string[];
  isOptional: boolean;
  onChange: (value: string[]) => void;
  error?: React.ReactNode;
}) {
  const { session } = useWorkspace();
  const rows = value.length === 0 ? [''] : value;
  const change = (index: number, entry: string) => onChange(rows.with(index, entry));
  const addOwn = useMutation({
    // Reloaded, because the network may have changed since the page was opened.
    mutationFn: accountApi.session,
    onSuccess: ({ address }) => {
      if (address === undefined) return;
      const free = rows.findIndex((entry) => entry.trim() === '');
      onChange(free === -1 ? [...rows, address] : rows.with(free, address));
    },
    onError: notifyFailure('Could not read your address'),
  });
  return (
    <Input.Wrapper
      label="IP allowlist"
      description={`Up to ${MAX_ALLOWLIST_ENTRIES} public IPv4 addresses or CIDR ranges. Calls from other addresses return 403. Changes apply to new tokens.${isOptional ? ' Leave empty to allow any address.' : ''}`}
      error={error}
      errorProps={{ mt: 'xs' }}
      labelElement="div"
    >
      <Stack gap="xs" mt={6}>
        {rows.map((entry, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows are identified by position
          <Group key={index} gap="xs" wrap="nowrap" align="flex-start">
            <TextInput
              flex={1}
              placeholder={index === 0 ? '198.35.26.96 or 198.35.26.0/24' : 'Another address or range'}
              aria-label={`Allowed address ${index + 1}`}
              value={entry}
              onChange={(event) => change(index, event.currentTarget.value)}
              error={entryError(rows, index, session.allowlist_min_prefix)}
              spellCheck={false}
              autoComplete="off"
              styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
            />
            {rows.length > 1 || entry !== '' ? (
              <ActionIcon
                variant="subtle"
                color="gray"
                mt={4}
                onClick={() => onChange(rows.toSpliced(index, 1))}
                aria-label={`Remove address ${index + 1}`}
              >
                <Icon name="trash" size={16} />
              </ActionIcon>
            ) : null}
          </Group>
        ))}
        <Group gap="xs">
          {session.address === undefined || !isPublicIpv4(session.address) ? null : (
            <Button
              size="xs"
              variant="light"
              onClick={() => addOwn.mutate()}
              loading={addOwn.isPending}
              disabled={isFull(rows)}
            >
              Add my current address
            </Button>
          )}
          <Button
            size="xs"
            variant="subtle"
            leftSection={<Icon name="plus" size={14} />}
            onClick={() => onChange([...rows, ''])}
            disabled={rows.length >= MAX_ALLOWLIST_ENTRIES}
          >
            Add address
          </Button>
        </Group>
      </Stack>
    </Input.Wrapper>
  );
}

function isPublicIpv4(address: string): boolean {
  return Array.isArray(parseAllowlist([address], { minPrefix: 32 }));
}

function isFull(rows: readonly string[]): boolean {
  return rows.length >= MAX_ALLOWLIST_ENTRIES && rows.every((entry) => entry.trim() !== '');
}

/** The server's message without the field name. Earlier entries are replaced if empty, so that the index matches. */
function entryError(rows: readonly string[], index: number, minPrefix: number): string | undefined {
  if (rows[index]?.trim() === '') return undefined;
  const entries = rows.slice(0, index + 1).map((entry) => entry.trim());
  const filled = entries.map((entry, at) => (at === index ? entry : entry || '0'));
  const parsed = parseAllowlist(filled, { minPrefix });
  if (Array.isArray(parsed) || parsed.index !== index) return undefined;
  return parsed.message.replace(/^ip_allowlist\[\d\] /, '');
}
