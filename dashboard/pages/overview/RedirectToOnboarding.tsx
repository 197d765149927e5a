import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { PageLoading } from '../../shared/feedback/PageLoading.tsx';

export function RedirectToOnboarding() {
  const navigate = useNavigate();
  // biome-ignore lint/correctness/useExhaustiveDependencies: navigates once, although this component renders repeatedly while the page loads
  useEffect(() => {
    void navigate({ to: '/onboarding', replace: true });
  }, []);
  return <PageLoading />;
}
