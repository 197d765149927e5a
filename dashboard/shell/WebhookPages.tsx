import { Outlet } from '@tanstack/react-router';
import { FeatureOff } from '../shared/FeatureOff.tsx';
import { useWorkspace } from './workspace-context.ts';

/** Around every page that asks for webhooks: without them the service would refuse whatever the page asks for. */
export function WebhookPages() {
  const { has } = useWorkspace();
  return has('webhooks') ? <Outlet /> : <FeatureOff feature="webhooks" />;
}
