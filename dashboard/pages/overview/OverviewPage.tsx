import { useWorkspace } from '../../session/workspace.ts';
import { PageLoading } from '../../shared/feedback/PageLoading.tsx';
import { FeatureDisabled } from '../../shared/page/FeatureDisabled.tsx';
import { RedirectToOnboarding } from './RedirectToOnboarding.tsx';
import { useOnboardingState } from './use-onboarding-state.ts';
import { WebhookOverview } from './WebhookOverview.tsx';

/** Redirects a new Organization to the onboarding, once per browser. */
export function OverviewPage() {
  const { has } = useWorkspace();
  const onboarding = useOnboardingState();
  if (onboarding === 'unknown') return <PageLoading />;
  if (onboarding === 'new') return <RedirectToOnboarding />;
  return has('webhooks') ? <WebhookOverview /> : <FeatureDisabled feature="webhooks" />;
}
