import { useQuery } from '@tanstack/react-query';
import type { Api } from '../../api/client.ts';
import type {
  AlertPreferences,
  AlertSlack,
  Application,
  List,
  Member,
  MemberPolicy,
  Subscription,
} from '../../api/types.ts';
import { useEnvironmentApi } from '../../session/use-environment-api.ts';
import { useWorkspace } from '../../session/workspace.ts';

const PER_PAGE = 100;

export type Step = {
  title: string;
  detail: string;
  isDone: boolean;
  /** The page on which it is done; absent when only the operator can do it. */
  page?: '/keys' | '/subscriptions' | '/team' | '/alerts/settings';
};

/** The list "Set up" of the guide `going-live`, with what is done. Undefined while loading. */
export function useGoingLive() {
  const workspace = useWorkspace();
  const apiOf = useEnvironmentApi();
  const { can, has, organization, banks } = workspace;
  const readsSubscriptions = has('webhooks') && can('subscriptions:read');
  const readsPolicy = can('members:write');
  return useQuery({
    queryKey: ['going live', organization.guid, banks.length],
    queryFn: async () => {
      const api = apiOf('production');
      const [bankKeys, organizationKeys, subscriptions, members, policy, slack, emails] = await Promise.all([
        readList<Application>(api, '/bank_applications'),
        readList<Application>(api, '/organization_applications'),
        readsSubscriptions
          ? readList<Subscription>(api, '/subscriptions', { environment: 'production' })
          : [],
        readList<Member>(api, '/members'),
        readsPolicy ? api.get<MemberPolicy>('/member_policy') : undefined,
        api.get<AlertSlack>('/alert_slack'),
        api.get<AlertPreferences>('/alert_preferences'),
      ]);
      const keys = [...bankKeys, ...organizationKeys];
      const open = keys.filter(({ ip_allowlist: list }) => list.length === 0);
      const founders = members.filter(({ role, state }) => role === 'founder' && state === 'active');
      const getsEmails = emails.email_available && emails.email_types.includes('endpoint.failing');
      const steps: Step[] = [
        {
          title: 'A production bank exists',
          detail: 'The operator creates it for you.',
          isDone: banks.some(({ environment }) => environment === 'production'),
        },
        {
          title: 'A key works in production',
          detail: 'An Organization key, or a bank key of a production bank.',
          isDone: keys.length > 0,
          page: '/keys',
        },
        {
          title: 'Every production key has an IP allowlist',
          detail:
            open.length === 0
              ? 'Keys without a list work from any address.'
              : `Without a list: ${open.map(({ name }) => name).join(', ')}.`,
          isDone: keys.length > 0 && open.length === 0,
          page: '/keys',
        },
        ...(readsSubscriptions
          ? [
              {
                title: 'A production endpoint receives webhooks',
                detail: 'It has answered its first event with 2xx.',
                isDone: subscriptions.some(({ state }) => state === 'active'),
                page: '/subscriptions' as const,
              },
            ]
          : []),
        {
          title: 'Two Founders are active',
          detail: 'The team keeps access when one Founder is away.',
          isDone: founders.length >= 2,
          page: '/team',
        },
        ...(policy
          ? [
              {
                title: 'A second factor is required in production',
                detail: 'Set it below. Going live turns it on.',
                isDone: policy.second_factor_in_production || policy.second_factor_roles.length > 0,
              },
            ]
          : []),
        {
          title: 'Alerts about failing endpoints reach your team',
          detail: 'In a Slack channel, or by email to you.',
          isDone: slack.url !== undefined || getsEmails,
          page: '/alerts/settings',
        },
        {
          title: 'The Organization is live',
          detail: 'The operator switches it on after a review.',
          isDone: organization.live,
        },
      ];
      return steps;
    },
  });
}

/** One page is enough: the checklist needs no exact counts. */
async function readList<Item>(api: Api, path: string, filters: Record<string, string> = {}): Promise<Item[]> {
  return (await api.get<List<Item>>(path, { query: { ...filters, per_page: PER_PAGE } })).objects;
}
