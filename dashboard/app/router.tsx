import { createRootRoute, createRoute, createRouter, redirect } from '@tanstack/react-router';
import { NotFound } from '../shared/feedback/NotFound.tsx';
import { PageError } from '../shared/feedback/PageError.tsx';
import { PageLoading } from '../shared/feedback/PageLoading.tsx';
import {
  parseSearch,
  retainOrganizationAndBank,
  stringifySearch,
  validateSearch,
} from '../shared/filters/search.ts';
import { lazyPage } from './lazy-page.tsx';

const root = createRootRoute({ validateSearch, search: { middlewares: [retainOrganizationAndBank] } });

const workspace = createRoute({
  getParentRoute: () => root,
  id: 'workspace',
  component: lazyPage(() => import('../shell/Workspace.tsx'), 'Workspace'),
});

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/overview' });
  },
});

const login = createRoute({
  getParentRoute: () => root,
  path: 'login',
  component: lazyPage(() => import('../pages/login/LoginPage.tsx'), 'LoginPage'),
});
const forgotPassword = createRoute({
  getParentRoute: () => root,
  path: 'forgot-password',
  component: lazyPage(() => import('../pages/login/ForgotPasswordPage.tsx'), 'ForgotPasswordPage'),
});
const setPassword = createRoute({
  getParentRoute: () => root,
  path: 'set-password',
  component: lazyPage(() => import('../pages/login/SetPasswordPage.tsx'), 'SetPasswordPage'),
});

const onboarding = createRoute({
  getParentRoute: () => workspace,
  path: 'onboarding',
  component: lazyPage(() => import('../pages/onboarding/OnboardingPage.tsx'), 'OnboardingPage'),
});
const overview = createRoute({
  getParentRoute: () => workspace,
  path: 'overview',
  component: lazyPage(() => import('../pages/overview/OverviewPage.tsx'), 'OverviewPage'),
});
const keys = createRoute({
  getParentRoute: () => workspace,
  path: 'keys',
  component: lazyPage(() => import('../pages/keys/KeysPage.tsx'), 'KeysPage'),
});
const webhooks = createRoute({
  getParentRoute: () => workspace,
  id: 'webhooks',
  component: lazyPage(() => import('../shell/RequireWebhooks.tsx'), 'RequireWebhooks'),
});
const subscriptions = createRoute({
  getParentRoute: () => webhooks,
  path: 'subscriptions',
  component: lazyPage(() => import('../pages/subscriptions/SubscriptionsPage.tsx'), 'SubscriptionsPage'),
});
const subscription = createRoute({
  getParentRoute: () => webhooks,
  path: 'subscriptions/$guid',
  component: lazyPage(() => import('../pages/subscriptions/SubscriptionPage.tsx'), 'SubscriptionPage'),
});
const events = createRoute({
  getParentRoute: () => webhooks,
  path: 'events',
  component: lazyPage(() => import('../pages/events/EventsPage.tsx'), 'EventsPage'),
});
const event = createRoute({
  getParentRoute: () => webhooks,
  path: 'events/$guid',
  component: lazyPage(() => import('../pages/events/EventPage.tsx'), 'EventPage'),
});
const deliveries = createRoute({
  getParentRoute: () => webhooks,
  path: 'deliveries',
  component: lazyPage(() => import('../pages/deliveries/DeliveriesPage.tsx'), 'DeliveriesPage'),
});
const delivery = createRoute({
  getParentRoute: () => webhooks,
  path: 'deliveries/$guid',
  component: lazyPage(() => import('../pages/deliveries/DeliveryPage.tsx'), 'DeliveryPage'),
});
const live = createRoute({
  getParentRoute: () => webhooks,
  path: 'live',
  component: lazyPage(() => import('../pages/live/LivePage.tsx'), 'LivePage'),
});
const inbox = createRoute({
  getParentRoute: () => webhooks,
  path: 'inbox',
  component: lazyPage(() => import('../pages/inbox/InboxPage.tsx'), 'InboxPage'),
});
const requests = createRoute({
  getParentRoute: () => workspace,
  path: 'requests',
  component: lazyPage(() => import('../pages/requests/RequestsPage.tsx'), 'RequestsPage'),
});
const files = createRoute({
  getParentRoute: () => workspace,
  path: 'files',
  component: lazyPage(() => import('../pages/files/FilesPage.tsx'), 'FilesPage'),
});
const sandbox = createRoute({
  getParentRoute: () => workspace,
  path: 'sandbox',
  component: lazyPage(() => import('../pages/sandbox/SandboxPage.tsx'), 'SandboxPage'),
});
const organization = createRoute({
  getParentRoute: () => workspace,
  path: 'organization',
  component: lazyPage(() => import('../pages/organization/OrganizationPage.tsx'), 'OrganizationPage'),
});
const object = createRoute({
  getParentRoute: () => workspace,
  path: 'sandbox/$kind/$guid',
  component: lazyPage(() => import('../pages/sandbox/object/ObjectPage.tsx'), 'ObjectPage'),
});
const team = createRoute({
  getParentRoute: () => workspace,
  path: 'team',
  component: lazyPage(() => import('../pages/team/TeamPage.tsx'), 'TeamPage'),
});
const audit = createRoute({
  getParentRoute: () => workspace,
  path: 'audit',
  component: lazyPage(() => import('../pages/audit/AuditPage.tsx'), 'AuditPage'),
});
const alerts = createRoute({
  getParentRoute: () => workspace,
  path: 'alerts',
  component: lazyPage(() => import('../pages/alerts/AlertsPage.tsx'), 'AlertsPage'),
});
const alertSettings = createRoute({
  getParentRoute: () => workspace,
  path: 'alerts/settings',
  component: lazyPage(() => import('../pages/alerts/AlertSettingsPage.tsx'), 'AlertSettingsPage'),
});
const account = createRoute({
  getParentRoute: () => workspace,
  path: 'account',
  component: lazyPage(() => import('../pages/account/AccountPage.tsx'), 'AccountPage'),
});

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    login,
    forgotPassword,
    setPassword,
    workspace.addChildren([
      ...([
        onboarding,
        overview,
        requests,
        keys,
        files,
        sandbox,
        object,
        organization,
        team,
        audit,
        alerts,
        alertSettings,
        account,
      ] as const),
      webhooks.addChildren([subscriptions, subscription, events, event, deliveries, delivery, live, inbox]),
    ]),
  ]),
  parseSearch,
  stringifySearch,
  defaultPendingComponent: PageLoading,
  defaultErrorComponent: PageError,
  defaultNotFoundComponent: NotFound,
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
