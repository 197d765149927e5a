import { Outlet } from '@tanstack/react-router';
import { useWorkspace } from '../session/workspace.ts';
import { FeatureDisabled } from '../shared/page/FeatureDisabled.tsx';

export function RequireWebhooks() {
  const { has } = useWorkspace();
  return has('webhooks') ? <Outlet /> : <FeatureDisabled feature="webhooks" />;
}
