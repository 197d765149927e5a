import { Outlet } from '@tanstack/react-router';
import { FeatureOff } from '../shared/FeatureOff.tsx';
import { useWorkspace } from './workspace-context.ts';

/** Around every page that asks for webhooks: without them the service would refuse whatever the page asks for. */
export function WebhookPages() {
  const { organization } = useWorkspace();
  return organization.features.includes('webhooks') ? <Outlet /> : <FeatureOff feature="webhooks" />;
}
