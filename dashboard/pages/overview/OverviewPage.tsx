import { FeatureOff } from '../../shared/FeatureOff.tsx';
import { PageLoading } from '../../shared/PageLoading.tsx';
import { useWorkspace } from '../../shell/workspace-context.ts';
import { useSetUp } from './set-up.ts';
import { ToSetUp } from './ToSetUp.tsx';
import { WebhookOverview } from './WebhookOverview.tsx';

/** The first page: how deliveries do. A new Organization is led to its set-up instead, once. */
export function OverviewPage() {
  const { has } = useWorkspace();
  const setUp = useSetUp();
  if (setUp === 'unknown') return <PageLoading />;
  if (setUp === 'new') return <ToSetUp />;
  return has('webhooks') ? <WebhookOverview /> : <FeatureOff feature="webhooks" />;
}
