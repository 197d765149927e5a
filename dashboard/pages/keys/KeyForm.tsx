import { Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { parseAllowlist } from '../../../server/credentials/applications/allowlists/allowlist.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { AllowlistField } from '../../shared/forms/AllowlistField.tsx';
import { FormActions } from '../../shared/forms/FormActions.tsx';
import { NameField, validateName } from '../../shared/forms/NameField.tsx';
import type { KeyKind } from './scopes/read-scopes.ts';
import { ScopesField } from './scopes/ScopesField.tsx';
import type { KeyInput } from './use-key-api.ts';

export function KeyForm({
  kind,
  initial,
  action,
  cancel = 'Cancel',
  isNew = false,
  pending,
  error,
  onSubmit,
  onCancel,
}: {
  kind: KeyKind;
  initial: KeyInput;
  action: string;
  cancel?: string;
  /** The allowlist policy applies to new keys only. */
  isNew?: boolean;
  pending: boolean;
  error: unknown;
  onSubmit: (input: KeyInput) => void;
  onCancel: () => void;
}) {
  const { organization, session } = useWorkspace();
  const requiredReason = organization.live
    ? 'Live Organizations need at least one address per key'
    : isNew && session.allowlist_policy === 'required'
      ? 'Enter at least one address'
      : undefined;
  const form = useForm({
    initialValues: initial,
    validate: {
      name: validateName,
      scopes: (scopes) => (scopes.length === 0 ? 'Select at least one scope' : null),
      // An unchanged list is not validated: it may predate today's limits.
      ip_allowlist: (entries) =>
        !isNew && nonEmpty(entries).join() === initial.ip_allowlist.join()
          ? null
          : allowlistError(nonEmpty(entries), requiredReason, session.allowlist_min_prefix),
    },
  });
  return (
    <form
      onSubmit={form.onSubmit(({ name, scopes, ip_allowlist: entries }) =>
        onSubmit({ name: name.trim(), scopes, ip_allowlist: nonEmpty(entries) }),
      )}
    >
      <Stack gap="lg">
        <NameField
          description="Where the key is used"
          placeholder="Payments backend"
          {...form.getInputProps('name')}
        />
        <ScopesField
          kind={kind}
          value={form.values.scopes}
          onChange={(scopes) => form.setFieldValue('scopes', scopes)}
          error={form.errors.scopes}
        />
        <AllowlistField
          value={form.values.ip_allowlist}
          isOptional={requiredReason === undefined}
          onChange={(entries) => form.setFieldValue('ip_allowlist', entries)}
          error={form.errors.ip_allowlist}
        />
        <FormActions action={action} cancel={cancel} pending={pending} error={error} onCancel={onCancel} />
      </Stack>
    </form>
  );
}

function nonEmpty(entries: readonly string[]): string[] {
  return entries.map((entry) => entry.trim()).filter((entry) => entry !== '');
}

function allowlistError(
  entries: readonly string[],
  requiredReason: string | undefined,
  minPrefix: number,
): string | null {
  if (requiredReason !== undefined && entries.length === 0) return requiredReason;
  const parsed = parseAllowlist(entries, { minPrefix });
  return Array.isArray(parsed) ? null : 'Fix the address marked above';
}
