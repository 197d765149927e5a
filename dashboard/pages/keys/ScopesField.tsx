import { Checkbox, Collapse, Input, SegmentedControl, Stack, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { scopesFor } from '../../../server/tokens/scopes.ts';
import type { KeyKind } from './kinds.ts';

type Preset = 'read' | 'all' | 'own';

const ACTIONS = [
  { name: 'read', meaning: 'list and retrieve' },
  { name: 'write', meaning: 'update' },
  { name: 'execute', meaning: 'create' },
] as const;

const MEANINGS: Record<Preset, string> = {
  read: 'Lists and retrieves, changes nothing. A good start: widen it when something is refused.',
  all: 'Everything that a key of this kind can hold. Whoever finds it can move money.',
  own: 'Give it only what its program needs: a leaked key then harms no more than that.',
};

/** What the tokens of this key may be granted at most, least privilege first. */
export function ScopesField({
  kind,
  value,
  onChange,
  error,
}: {
  kind: KeyKind;
  value: string[];
  onChange: (value: string[]) => void;
  error?: React.ReactNode;
}) {
  const all = scopesFor(kind);
  const reads = all.filter((scope) => scope.endsWith(':read'));
  const [preset, setPreset] = useState<Preset>(() => presetOf(value, all, reads));
  return (
    <Input.Wrapper label="Scopes" labelElement="div" error={error}>
      <Stack gap="xs" mt={6}>
        <SegmentedControl
          fullWidth
          value={preset}
          onChange={(chosen) => {
            setPreset(chosen as Preset);
            if (chosen === 'read') onChange(reads);
            if (chosen === 'all') onChange(all);
          }}
          data={[
            { value: 'read', label: 'Read only' },
            { value: 'own', label: 'Choose' },
            { value: 'all', label: 'Everything' },
          ]}
          aria-label="How much it may do"
        />
        <Text size="sm" c="dimmed">
          {MEANINGS[preset]}
        </Text>
        <Collapse expanded={preset === 'own'}>
          <ScopeMatrix all={all} value={value} onChange={onChange} />
        </Collapse>
      </Stack>
    </Input.Wrapper>
  );
}

function ScopeMatrix({
  all,
  value,
  onChange,
}: {
  all: readonly string[];
  value: readonly string[];
  onChange: (value: string[]) => void;
}) {
  const resources = [...new Set(all.map((scope) => scope.split(':', 1)[0] ?? ''))];
  return (
    <Table verticalSpacing={6} horizontalSpacing="xs" aria-label="Scopes">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Resource</Table.Th>
          {ACTIONS.map(({ name, meaning }) => (
            <Table.Th key={name} ta="center" title={meaning} tt="capitalize">
              {name}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {resources.map((resource) => (
          <Table.Tr key={resource}>
            <Table.Td>
              <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                {resource.replaceAll('_', ' ')}
              </Text>
            </Table.Td>
            {ACTIONS.map(({ name }) => {
              const scope = `${resource}:${name}`;
              return (
                <Table.Td key={name} ta="center">
                  {all.includes(scope) ? (
                    <Checkbox
                      aria-label={scope}
                      checked={value.includes(scope)}
                      onChange={({ currentTarget }) =>
                        onChange(
                          currentTarget.checked ? [...value, scope] : value.filter((held) => held !== scope),
                        )
                      }
                      styles={{ body: { justifyContent: 'center' } }}
                    />
                  ) : null}
                </Table.Td>
              );
            })}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function presetOf(value: readonly string[], all: readonly string[], reads: readonly string[]): Preset {
  const same = (set: readonly string[]) =>
    set.length === value.length && set.every((scope) => value.includes(scope));
  if (same(all)) return 'all';
  return same(reads) ? 'read' : 'own';
}
