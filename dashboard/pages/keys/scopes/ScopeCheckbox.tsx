import { Checkbox } from '@mantine/core';

/** For one scope or for several at once; some of several is neither yes nor no. */
export function ScopeCheckbox({
  scopes,
  label,
  name,
  value,
  onChange,
}: {
  scopes: readonly string[];
  label?: string;
  /** What it does, where no label says it. */
  name?: string;
  value: readonly string[];
  onChange: (value: string[]) => void;
}) {
  const held = scopes.filter((scope) => value.includes(scope));
  const others = value.filter((scope) => !scopes.includes(scope));
  return (
    <Checkbox
      label={label}
      aria-label={name}
      title={name}
      checked={held.length === scopes.length}
      indeterminate={held.length > 0 && held.length < scopes.length}
      onChange={({ currentTarget }) => onChange(currentTarget.checked ? [...others, ...scopes] : others)}
      display="inline-block"
      fw={label ? 600 : undefined}
    />
  );
}
