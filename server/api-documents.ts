import { OPERATOR_INTRODUCTION, PARTNER_INTRODUCTION } from './infrastructure/http/openapi/introductions.ts';
import type { ServedDocument, ServerAddress } from './infrastructure/http/openapi/openapi.ts';
import { WEBHOOKS } from './webhooks/deliveries/description.ts';

/** The OpenAPI documents: one for partners, and one with the routes of the operator and of the dashboard. */
export function createApiDocuments({
  hasDashboard,
  sandboxAuthUrl,
  productionAuthUrl,
  uploadUrl,
}: {
  hasDashboard: boolean;
  sandboxAuthUrl: string;
  productionAuthUrl: string;
  uploadUrl: string;
}) {
  const issuers: readonly ServerAddress[] = [
    { url: sandboxAuthUrl, description: 'The token issuer of the sandbox' },
    { url: productionAuthUrl, description: 'The token issuer of production' },
  ];
  const links: readonly ServerAddress[] = [{ url: uploadUrl, description: 'The contents of files' }];
  const servers: Readonly<Record<string, readonly ServerAddress[]>> = {
    ...{ oauth: issuers, '.well-known': issuers },
    ...{ uploads: links, downloads: links },
  };

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
    serversOf: (path) => servers[path.split('/')[1] ?? ''],
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
