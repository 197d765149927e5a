import { useQuery } from '@tanstack/react-query';
import type { Application, AuditEntry, List, Member } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { SelectFilter } from '../../shared/filters/SelectFilter.tsx';
import { ACTORS_WITHOUT_GUID, actorLabel } from './labels.ts';

const PER_PAGE = 100;

/** The newest members and keys by name; an actor that is not among them is named by its entries. */
export function ActorFilter({
  value,
  onChange,
  entries,
}: {
  value: string | undefined;
  onChange: (actor: string | undefined) => void;
  entries: readonly AuditEntry[];
}) {
  const { api } = useWorkspace();
  const { data: groups = [] } = useQuery({
    queryKey: [api.key, 'actors'],
    staleTime: 60_000,
    queryFn: async ({ signal }) => {
      const query = { per_page: PER_PAGE };
      const [members, organizationKeys, bankKeys] = await Promise.all([
        api.get<List<Member>>('/members', { query, signal }),
        api.get<List<Application>>('/organization_applications', { query, signal }),
        api.get<List<Application>>('/bank_applications', { query, signal }),
      ]);
      const keys = [...organizationKeys.objects, ...bankKeys.objects];
      return [
        {
          group: 'Members',
          items: members.objects.map(({ guid, name, email }) => ({ value: guid, label: name ?? email })),
        },
        {
          group: 'Keys',
          items: keys.map(({ client_id: id, name }) => ({ value: id, label: `${name} (…${id.slice(-6)})` })),
        },
      ];
    },
  });
  const others = Object.entries(ACTORS_WITHOUT_GUID).map(([actor, label]) => ({ value: actor, label }));
  const all = [...groups, { group: 'Others', items: others }];
  const isKnown = value === undefined || all.some(({ items }) => items.some((item) => item.value === value));
  const entry = entries.find(({ actor }) => actor === value);
  const selected = isKnown ? [] : [{ value, label: (entry && actorLabel(entry)) ?? value }];
  return (
    <SelectFilter
      label="Actor"
      placeholder="Anyone"
      searchable
      data={[...selected, ...all]}
      value={value}
      onChange={onChange}
      nothingFoundMessage="No members or keys match"
    />
  );
}
