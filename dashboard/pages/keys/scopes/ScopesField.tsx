import { Input, SegmentedControl, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { scopesFor } from '../../../../server/tokens/scopes.ts';
import { type KeyKind, readScopesOf } from './read-scopes.ts';
import { ScopeMatrix } from './ScopeMatrix.tsx';

type Preset = 'read' | 'all' | 'custom';

const DESCRIPTIONS: Record<Preset, string> = {
  read: 'Can view everything and change nothing. You can add scopes later.',
  custom: 'Select only the scopes that your application needs. Tokens can request fewer.',
  all: 'All scopes. Anyone with this key can move money.',
};

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
  const reads = readScopesOf(kind);
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
            { value: 'custom', label: 'Custom' },
            { value: 'all', label: 'Full access' },
          ]}
          aria-label="Access level"
        />
        <Text size="sm" c="dimmed">
          {DESCRIPTIONS[preset]}
        </Text>
        {preset === 'custom' ? (
          <>
            <ScopeMatrix all={all} value={value} onChange={onChange} />
            <Text size="sm" c="dimmed" role="status">
              {value.length} of {all.length} scopes selected
            </Text>
          </>
        ) : null}
      </Stack>
    </Input.Wrapper>
  );
}

function presetOf(value: readonly string[], all: readonly string[], reads: readonly string[]): Preset {
  const same = (set: readonly string[]) =>
    set.length === value.length && set.every((scope) => value.includes(scope));
  if (same(all)) return 'all';
  return same(reads) ? 'read' : 'custom';
}
