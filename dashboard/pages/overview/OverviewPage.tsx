import { useWorkspace } from '../../session/workspace.ts';
import { FeatureDisabled } from '../../shared/feedback/FeatureDisabled.tsx';
import { PageLoading } from '../../shared/feedback/PageLoading.tsx';
import { RedirectToOnboarding } from './RedirectToOnboarding.tsx';
import { useOnboardingState } from './use-onboarding-state.ts';
import { WebhookOverview } from './WebhookOverview.tsx';

/** The first page: how deliveries do. A new Organization is led to its set-up instead, once. */
export function OverviewPage() {
  const { has } = useWorkspace();
  const setUp = useOnboardingState();
  if (setUp === 'unknown') return <PageLoading />;
  if (setUp === 'new') return <RedirectToOnboarding />;
  return has('webhooks') ? <WebhookOverview /> : <FeatureDisabled feature="webhooks" />;
}
