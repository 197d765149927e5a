import { useEffect, useState } from 'react';
import { isSetupDone, isSetupSeen, markSetupSeen } from '../../session/local-storage.ts';
import { useSetup } from '../../session/use-setup.ts';
import { useWorkspace } from '../../session/workspace.ts';

/** `new`: the Organization has no bank key and no subscription. Said once per browser, to roles that can create keys. */
export function useOnboardingState(): 'unknown' | 'new' | 'done' {
  const { can, organization } = useWorkspace();
  const { guid } = organization;
  const [wasSeen] = useState(() => isSetupSeen(guid));
  const isChecked = can('bank_applications:write') && !isSetupDone(guid);
  const { data, isPending } = useSetup({ enabled: isChecked });
  useEffect(() => {
    if (data !== undefined) markSetupSeen(guid);
  }, [data, guid]);
  if (!isChecked || wasSeen) return 'done';
  if (isPending) return 'unknown';
  // An error must not keep the user from the overview.
  return data?.isNew ? 'new' : 'done';
}
