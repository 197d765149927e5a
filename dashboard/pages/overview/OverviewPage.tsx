import { FeatureOff } from '../../shared/FeatureOff.tsx';
import { useWorkspace } from '../../shell/workspace-context.ts';
import { WebhookOverview } from './WebhookOverview.tsx';

/** The first page: how deliveries do, for those who have any. */
export function OverviewPage() {
  const { organization } = useWorkspace();
  return organization.features.includes('webhooks') ? <WebhookOverview /> : <FeatureOff feature="webhooks" />;
}
