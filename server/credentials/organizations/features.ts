import { Failure, type FailureCode } from '../../infrastructure/runtime/failure.ts';
import type { Feature } from './schema.ts';
import type { Organization } from './store.ts';

const REFUSALS: Record<Feature, { code: FailureCode; message: string }> = {
  webhooks: { code: 'not_implemented', message: 'Webhooks are not enabled for this Organization' },
  files: { code: 'feature_not_enabled', message: 'Files are not enabled for this Organization' },
};

export function checkFeature({ features }: Organization, feature: Feature): Failure | undefined {
  return features.includes(feature) ? undefined : refusalWithout(feature);
}

export function refusalWithout(feature: Feature): Failure {
  const { code, message } = REFUSALS[feature];
  return new Failure(code, message);
}
