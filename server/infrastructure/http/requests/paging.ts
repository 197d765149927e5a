import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox';
import type { Page, PageOf } from '../../database/paging/paging.ts';
import { Failure } from '../../runtime/failure.ts';
import { Guid, strictObject } from './schemas.ts';

/** Lists (contract, section 5): numbered pages near the top, `after` for a walk of any depth. */
const DEFAULT_PER_PAGE = 20;
const MAX_PER_PAGE = 100;
/** Numbered pages end here: skipping rows costs more the deeper it goes, and `after` does not. */
const MAX_NUMBERED_OBJECTS = 10_000;

const pageProperties = {
  page: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_NUMBERED_OBJECTS, description: '0-based' })),
  per_page: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PER_PAGE, default: DEFAULT_PER_PAGE })),
  after: Type.Optional({ ...Guid, description: 'the `next` of the page before; for walks of any depth' }),
};

/** The query string of a list: paging, and the filters that this list has. */
export function listQuery<Filters extends TProperties>(
  filters: Filters,
): TObject<typeof pageProperties & Filters> {
  return strictObject({ ...pageProperties, ...filters }) as TObject<typeof pageProperties & Filters>;
}

export function listOf<Item extends TSchema>(item: Item) {
  return Type.Object({
    total: Type.Integer({ description: 'exact up to 10,000, where counting stops' }),
    page: Type.Integer(),
    per_page: Type.Integer(),
    objects: Type.Array(item),
    next: Type.Optional({
      ...Guid,
      description: 'pass as `after` to get the next page; absent on the last one',
    }),
  });
}

type PageQuery = Static<TObject<typeof pageProperties>>;

export function pageOf({ page, per_page: perPage = DEFAULT_PER_PAGE, after }: PageQuery): Page | Failure {
  if (page !== undefined && after !== undefined)
    return new Failure('invalid_parameter', 'page and after cannot be combined');
  const offset = (page ?? 0) * perPage;
  if (offset + perPage > MAX_NUMBERED_OBJECTS)
    return new Failure(
      'invalid_parameter',
      `page reaches past the first ${MAX_NUMBERED_OBJECTS} objects; walk further with after=<guid>`,
    );
  return { number: page ?? 0, perPage, offset, after };
}

export function envelope<Row, View>(page: Page, result: PageOf<Row>, view: (row: Row) => View) {
  return {
    total: result.total,
    page: page.number,
    per_page: page.perPage,
    objects: result.rows.map(view),
    ...(result.next === undefined ? {} : { next: result.next }),
  };
}
