import { Radio, Stack } from '@mantine/core';
import { ROLE_DESCRIPTIONS, ROLE_LABELS } from '../../api/permissions.ts';
import type { Role } from '../../api/types.ts';

const ROLES_BY_ACCESS: readonly Role[] = ['viewer', 'developer', 'key_admin', 'founder'];

export function RoleSelect({ value, onChange }: { value: Role; onChange: (role: Role) => void }) {
  return (
    <Radio.Group label="Role" value={value} onChange={(role) => onChange(role as Role)}>
      <Stack gap="sm" mt="xs">
        {ROLES_BY_ACCESS.map((role) => (
          <Radio key={role} value={role} label={ROLE_LABELS[role]} description={ROLE_DESCRIPTIONS[role]} />
        ))}
      </Stack>
    </Radio.Group>
  );
}
