import { Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { parseAllowlist } from '../../../server/applications/allowlist.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { AllowlistField } from '../../shared/forms/AllowlistField.tsx';
import { FormActions } from '../../shared/forms/FormActions.tsx';
import { NameField, nameProblem } from '../../shared/forms/NameField.tsx';
import { ScopesField } from './scopes/ScopesField.tsx';
import type { KeyInput, KeyKind } from './use-key-api.ts';

/** Generate Bank Key, Generate Organization Key, Edit Application, a rotation: the same three things. */
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
  /** The policy of the installation is about new keys; one that is there may keep its empty list. */
  isNew?: boolean;
  pending: boolean;
  error: unknown;
  onSubmit: (input: KeyInput) => void;
  onCancel: () => void;
}) {
  const { organization, session } = useWorkspace();
  const whyNeeded = organization.live
    ? 'A live Organization needs at least one address on every key'
    : isNew && session.allowlist_policy === 'required'
      ? 'A new key needs at least one address'
      : undefined;
  const form = useForm({
    initialValues: initial,
    validate: {
      name: nameProblem,
      scopes: (scopes) => (scopes.length === 0 ? 'Choose at least one' : null),
      // A list that stays as it is may be wider than what is accepted today.
      ip_allowlist: (entries) =>
        !isNew && filled(entries).join() === initial.ip_allowlist.join()
          ? null
          : allowlistProblem(filled(entries), whyNeeded, session.allowlist_min_prefix),
    },
  });
  return (
    <form
      onSubmit={form.onSubmit(({ name, scopes, ip_allowlist: entries }) =>
        onSubmit({ name: name.trim(), scopes, ip_allowlist: filled(entries) }),
      )}
    >
      <Stack gap="lg">
        <NameField
          description="Where it is used, so that you know it again"
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
          isOptional={whyNeeded === undefined}
          onChange={(entries) => form.setFieldValue('ip_allowlist', entries)}
          error={form.errors.ip_allowlist}
        />
        <FormActions action={action} cancel={cancel} pending={pending} error={error} onCancel={onCancel} />
      </Stack>
    </form>
  );
}

function filled(entries: readonly string[]): string[] {
  return entries.map((entry) => entry.trim()).filter((entry) => entry !== '');
}

function allowlistProblem(
  entries: readonly string[],
  whyNeeded: string | undefined,
  minPrefix: number,
): string | null {
  if (whyNeeded !== undefined && entries.length === 0) return whyNeeded;
  const parsed = parseAllowlist(entries, { minPrefix });
  return Array.isArray(parsed) ? null : 'Mend the entry that is marked';
}
