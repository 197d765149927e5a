import type { Static } from 'typebox';
import {
  createdAtFilters,
  environmentsFilter,
  guidsFilter,
  moment,
  values,
  wordsFilter,
} from '../../infrastructure/http/requests/filters.ts';
import { listQuery } from '../../infrastructure/http/requests/paging.ts';
import type { SubscriptionFilters } from './store.ts';

/** Filters of the partner's and the operator's list. */
export const SubscriptionQuery = listQuery({
  guid: guidsFilter,
  state: wordsFilter,
  environment: environmentsFilter,
  ...createdAtFilters,
});

export function filtersOf(query: Static<typeof SubscriptionQuery>): SubscriptionFilters {
  return {
    guid: values(query.guid),
    state: values(query.state),
    environment: values(query.environment),
    createdAtGte: moment(query.created_at_gte),
    createdAtLt: moment(query.created_at_lt),
  };
}
