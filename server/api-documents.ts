import { OPERATOR_INTRODUCTION, PARTNER_INTRODUCTION } from './infrastructure/http/openapi/introductions.ts';
import type { ServedDocument } from './infrastructure/http/openapi/openapi.ts';
import { WEBHOOKS } from './webhooks/deliveries/description.ts';

/** The OpenAPI documents: one for partners, and one with the routes of the operator and of the dashboard. */
export function createApiDocuments({ hasDashboard }: { hasDashboard: boolean }) {
  const pageLinks = (at: string) =>
    hasDashboard
      ? [
          { label: '← Dashboard', href: `${at}/` },
          { label: 'Guides', href: `${at}/guides` },
        ]
      : [];

  const forPartners: ServedDocument = {
    ...{ address: '', title: 'Portico', description: PARTNER_INTRODUCTION, webhooks: WEBHOOKS },
    ...{ includes: isForPartners, hasCollection: true },
    links: [...pageLinks(''), { label: 'Postman collection', href: '/postman.json' }],
  };

  /** `dashboardAt` is empty on the server of the dashboard. */
  const forOperators = (dashboardAt = ''): ServedDocument => ({
    ...{ address: '/operator', title: 'Portico operations', description: OPERATOR_INTRODUCTION },
    ...{ includes: (path) => !isForPartners(path), links: pageLinks(dashboardAt) },
  });

  return { forPartners, forOperators };
}

function isForPartners(path: string): boolean {
  return /^\/(api|oauth|\.well-known|uploads|downloads)\//.test(path);
}
