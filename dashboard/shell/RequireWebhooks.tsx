import { Outlet } from '@tanstack/react-router';
import { useWorkspace } from '../session/workspace.ts';
import { FeatureDisabled } from '../shared/feedback/FeatureDisabled.tsx';

/** Around every page that asks for webhooks: without them the service would refuse whatever the page asks for. */
export function RequireWebhooks() {
  const { has } = useWorkspace();
  return has('webhooks') ? <Outlet /> : <FeatureDisabled feature="webhooks" />;
}
