import type { Command } from '../command.ts';
import { field, type Item, printList, printObject, say } from '../output/print.ts';
import { createProfiles } from '../profiles/profiles.ts';

const CURRENT = { title: 'Current', value: ({ current }: Item) => (current ? 'yes' : '') };

const listProfiles: Command = {
  name: 'profiles list',
  summary: 'List the key pairs that are stored on this machine, without their secrets.',
  examples: ['portico profiles list'],
  async run(context) {
    const profiles = (await createProfiles(context.io).list()).map(
      ({ name, environment, url, clientId, isCurrent }) => ({
        ...{ name, current: isCurrent, environment, url, client_id: clientId },
      }),
    );
    const columns = [field('Name'), CURRENT, field('Environment'), field('Url'), field('Client id')];
    printList(context, profiles, columns, 'You are not logged in. Run portico login.');
  },
};

const useProfile: Command = {
  name: 'profiles use',
  summary: 'Choose the profile that commands use without --profile.',
  positionals: ['name'],
  examples: ['portico profiles use live'],
  async run(context) {
    const [name = ''] = context.positionals;
    await createProfiles(context.io).use(name);
    say(context, `Commands use the profile ${name} now.`);
    if (context.options.flag('json')) printObject(context, { current: name });
  },
};

export const profileCommands = [listProfiles, useProfile];
