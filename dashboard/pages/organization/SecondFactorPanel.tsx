import { Alert, Checkbox, Group, Skeleton, Switch } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ROLE_LABELS } from '../../api/permissions.ts';
import type { MemberPolicy, Role } from '../../api/types.ts';
import { useRefreshSession } from '../../session/session.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { ErrorAlert } from '../../shared/feedback/ErrorAlert.tsx';
import { notifySuccess } from '../../shared/feedback/notify.ts';
import { changedFields } from '../../shared/forms/changed-fields.ts';
import { PanelForm } from '../../shared/forms/PanelForm.tsx';
import { Panel } from '../../shared/page/Panel.tsx';
import { Icon } from '../../shared/text/Icon.tsx';
import { PageLink } from '../../shared/text/PageLink.tsx';

const PATH = '/member_policy';
const ROLES: readonly Role[] = ['founder', 'key_admin', 'developer', 'viewer'];

export function SecondFactorPanel() {
  const { api } = useWorkspace();
  const { data, error, refetch } = useQuery({
    queryKey: [api.key, PATH],
    queryFn: ({ signal }) => api.get<MemberPolicy>(PATH, { signal }),
  });
  return (
    <Panel title="Two-factor authentication" hint="Require members to use an authenticator app or a passkey">
      {error && !data ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : null}
      {!data && !error ? <Skeleton height={140} /> : null}
      {data ? <PolicyForm policy={data} /> : null}
    </Panel>
  );
}

/** Keeps only what the user has changed, so that a change in another tab neither discards that nor is undone. */
function PolicyForm({ policy }: { policy: MemberPolicy }) {
  const { api, session } = useWorkspace();
  const queries = useQueryClient();
  const refreshSession = useRefreshSession();
  const [chosen, setChosen] = useState<Partial<Record<Role, boolean>>>({});
  const [chosenInProduction, setInProduction] = useState<boolean>();
  const roles = ROLES.filter((role) => chosen[role] ?? policy.second_factor_roles.includes(role));
  const inProduction = chosenInProduction ?? policy.second_factor_in_production;
  const { has_totp: hasTotp, passkey_count: passkeys } = session.member;
  const canRequire = hasTotp || passkeys > 0;
  const changes = changedFields<MemberPolicy>(policy, {
    second_factor_roles: roles,
    second_factor_in_production: inProduction,
  });
  const isChanged = Object.keys(changes).length > 0;
  const save = useMutation({
    mutationFn: () => api.patch<MemberPolicy>(PATH, changes),
    onSuccess: async (saved) => {
      queries.setQueryData([api.key, PATH], saved);
      setChosen({});
      setInProduction(undefined);
      await refreshSession();
      notifySuccess('Two-factor policy saved.');
    },
  });
  return (
    <PanelForm isChanged={isChanged} save={save}>
      {canRequire ? null : (
        <Alert color="blue" variant="light" icon={<Icon name="shield" />}>
          Set up a second factor in{' '}
          <PageLink to="/account" inherit underline="always" c="inherit">
            your account
          </PageLink>{' '}
          before you require one for others.
        </Alert>
      )}
      <Checkbox.Group
        label="Required for these roles"
        description="Members with these roles can open only their account until they set up a second factor."
        value={roles}
      >
        <Group mt="xs" gap="lg">
          {ROLES.map((role) => (
            <Checkbox
              key={role}
              value={role}
              label={ROLE_LABELS[role]}
              disabled={!canRequire && !roles.includes(role)}
              onChange={({ currentTarget }) => setChosen({ ...chosen, [role]: currentTarget.checked })}
            />
          ))}
        </Group>
      </Checkbox.Group>
      <Switch
        label="Required for changes in production"
        description="Applies to all roles. Going live turns it on."
        checked={inProduction}
        disabled={!canRequire && !inProduction}
        onChange={({ currentTarget }) => setInProduction(currentTarget.checked)}
      />
    </PanelForm>
  );
}
