import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useWorkspace } from '../../session/workspace.ts';
import type { Destination } from '../../shared/lookup/destination.ts';
import type { IconName } from '../../shared/text/Icon.tsx';
import { useLogOut } from '../header/use-log-out.ts';
import { pagesOf } from '../Navigation.tsx';

/** An entry of the search that needs no call: a page or an action. */
export type Command = { id: string; label: string; words?: string; icon: IconName; run(): void };

export function useCommands(): Command[] {
  const workspace = useWorkspace();
  const { can, has, banks, bank, session, organization, chooseBank, chooseOrganization } = workspace;
  const go = useGo();
  const logOut = useLogOut();
  const { setColorScheme } = useMantineColorScheme();
  const otherScheme = useComputedColorScheme('light') === 'light' ? 'dark' : 'light';
  const page = (to: string, label: string, icon: IconName, words = '') => ({
    id: `${to} ${label}`,
    label,
    icon,
    words,
    run: () => go({ to, search: {} }),
  });
  const errors = { to: '/requests', search: { status: '4xx,5xx' } };
  return [
    ...pagesOf(workspace).map(({ to, label, icon }) => page(to, label, icon, 'page go to')),
    page('/alerts/settings', 'Alert settings', 'bell', 'slack waiting threshold'),
    page('/account', 'Account and security', 'shield', 'password passkey second factor sessions'),
    {
      id: 'errors',
      label: 'Show failed requests',
      icon: 'requests',
      words: 'errors denied 4xx 5xx',
      run: () => go(errors),
    },
    ...(can('bank_applications:write')
      ? [page('/keys', 'Generate API key', 'key', 'create new rotate')]
      : []),
    ...(has('webhooks') && can('subscriptions:write')
      ? [page('/subscriptions', 'Create subscription', 'webhook', 'new endpoint webhook')]
      : []),
    ...(has('files') && can('files:execute')
      ? [page('/files', 'Upload file', 'upload', 'new document')]
      : []),
    ...(can('members:write') ? [page('/team', 'Invite member', 'team', 'new person colleague')] : []),
    ...banks
      .filter(({ guid }) => guid !== bank?.guid)
      .map((other) => ({
        id: other.guid,
        label: `Switch to bank ${other.name}`,
        words: `${other.environment} ${other.guid}`,
        icon: 'bank' as const,
        run: () => chooseBank(other),
      })),
    ...session.organizations
      .filter(({ guid }) => guid !== organization.guid)
      .map(({ guid, name }) => ({
        id: guid,
        label: `Switch to Organization ${name}`,
        icon: 'bank' as const,
        run: () => chooseOrganization(guid),
      })),
    {
      id: 'theme',
      label: `Switch to ${otherScheme} theme`,
      icon: otherScheme === 'dark' ? 'moon' : 'sun',
      run: () => setColorScheme(otherScheme),
    },
    { id: 'logout', label: 'Log out', words: 'sign out', icon: 'logout', run: logOut },
  ];
}

/** Navigates to a path that is only known at run time. */
export function useGo(): (destination: Destination) => void {
  const navigate = useNavigate();
  return ({ to, search }) => void navigate({ to: to as '/overview', search });
}

/** Each word of the text has to occur; labels that begin with the text come first. */
export function matching(commands: readonly Command[], text: string, most: number): Command[] {
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = commands.filter(({ label, words = '' }) => {
    const all = `${label} ${words}`.toLowerCase();
    return wanted.every((word) => all.includes(word));
  });
  const rank = ({ label }: Command) => (label.toLowerCase().startsWith(text.toLowerCase()) ? 0 : 1);
  return found.toSorted((a, b) => rank(a) - rank(b)).slice(0, most);
}
