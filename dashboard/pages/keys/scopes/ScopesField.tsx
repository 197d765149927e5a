import { Input, SegmentedControl, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { scopesFor } from '../../../../server/tokens/scopes.ts';
import { type KeyKind, readScopesOf } from '../use-key-api.ts';
import { ScopeMatrix } from './ScopeMatrix.tsx';

type Preset = 'read' | 'all' | 'own';

const MEANINGS: Record<Preset, string> = {
  read: 'Lists and retrieves, changes nothing. A good start: widen it when something is refused.',
  all: 'Everything that a key of this kind can hold. Whoever finds it can move money.',
  own: 'Choose the fewest that its program needs: a leaked key then harms no more than that. A token may ask for fewer still.',
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
            { value: 'own', label: 'Choose' },
            { value: 'all', label: 'Everything' },
          ]}
          aria-label="How much it may do"
        />
        <Text size="sm" c="dimmed">
          {MEANINGS[preset]}
        </Text>
        {preset === 'own' ? (
          <>
            <ScopeMatrix all={all} value={value} onChange={onChange} />
            <Text size="sm" c="dimmed" role="status">
              {value.length} of {all.length} chosen
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
  return same(reads) ? 'read' : 'own';
}
