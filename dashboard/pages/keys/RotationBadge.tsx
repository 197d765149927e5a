import type { Application } from '../../api/types.ts';
import { ReplacementBadge } from '../../shared/secrets/ReplacementBadge.tsx';
import type { Rotation } from './use-rotations.ts';

export function RotationBadge({
  application,
  rotation,
}: {
  application: Application;
  rotation: Rotation | undefined;
}) {
  if (!rotation) return null;
  const { old, replacement } = rotation;
  if (application.client_id === old.client_id)
    return <ReplacementBadge label={`being replaced by ${replacement.name}`} />;
  const owner = replacement.bank_guid === undefined ? 'organization' : 'bank';
  return (
    <ReplacementBadge
      label={`replaces ${old.name}`}
      begun={{
        action: `${owner}_application.create`,
        objectId: replacement.client_id,
        at: replacement.created_at,
      }}
    />
  );
}
