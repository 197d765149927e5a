import { Checkbox } from '@mantine/core';

/** Checks or unchecks all of the given scopes. */
export function ScopeCheckbox({
  scopes,
  label,
  name,
  value,
  onChange,
}: {
  scopes: readonly string[];
  label?: string;
  /** Accessible name if there is no label. */
  name?: string;
  value: readonly string[];
  onChange: (value: string[]) => void;
}) {
  const checked = scopes.filter((scope) => value.includes(scope));
  const others = value.filter((scope) => !scopes.includes(scope));
  return (
    <Checkbox
      label={label}
      aria-label={name}
      title={name}
      checked={checked.length === scopes.length}
      indeterminate={checked.length > 0 && checked.length < scopes.length}
      onChange={({ currentTarget }) => onChange(currentTarget.checked ? [...others, ...scopes] : others)}
      display="inline-block"
      fw={label ? 600 : undefined}
    />
  );
}
