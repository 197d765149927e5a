import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { PageLoading } from '../../shared/feedback/PageLoading.tsx';

/** To the set-up, once: while that page loads, this one is drawn again and again. */
export function RedirectToOnboarding() {
  const navigate = useNavigate();
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    void navigate({ to: '/onboarding', replace: true });
  }, []);
  return <PageLoading />;
}
