import { OBJECT_TYPES } from '../../objects/types.ts';

/** Groups of actions by the prefixes of their names. Prefixes cover actions that later versions add. */
export const ACTION_GROUPS = {
  keys: ['bank_application.', 'organization_application.', 'token.'],
  subscriptions: [
    'subscription.',
    'subscription_delivery.',
    'subscription_event.',
    'subscription_recovery.',
    'inbox.',
  ],
  team: ['member.'],
  organization: ['organization.', 'bank.'],
  login: ['authentication.', 'access.'],
  alerts: ['alert_preferences.', 'alert_settings.'],
  files: ['file.'],
  objects: OBJECT_TYPES.map(({ name }) => `${name}.`),
} as const satisfies Record<string, readonly string[]>;

export type ActionGroup = keyof typeof ACTION_GROUPS;

export const ACTION_GROUP_NAMES = Object.keys(ACTION_GROUPS) as ActionGroup[];
