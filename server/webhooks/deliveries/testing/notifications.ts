import type { Notifications } from '../../../infrastructure/database/connections/notifications.ts';

/** Notifications without a database: keeps the sent payloads and lets a test deliver payloads. */
export function createFakeNotifications() {
  const handlers = new Map<string, (payload: string | undefined) => void>();
  const said: { channel: string; payloads: readonly string[] }[] = [];
  const state = { away: false, hold: Promise.resolve() };
  const notifications: Notifications = {
    async listen(channel, handler) {
      handlers.set(channel, handler);
      if (state.away) throw new Error('no connection');
    },
    async notify(channel, payloads = ['']) {
      if (state.away) throw new Error('no connection');
      said.push({ channel, payloads });
      await state.hold;
    },
    close: async () => undefined,
  };
  return {
    notifications,
    state,
    hear: (channel: string, payload?: string) => handlers.get(channel)?.(payload),
    /** Removes and returns the payloads sent on a channel. */
    take(channel: string): string[] {
      const found = said.filter((each) => each.channel === channel).flatMap(({ payloads }) => payloads);
      const others = said.filter((each) => each.channel !== channel);
      said.splice(0, said.length, ...others);
      return found;
    },
  };
}
