import { pascalCase } from '../../server/infrastructure/http/openapi/names.ts';

type Row = { status: string; error: string; code: string; cause: string; remedy: string };

/** Errors that programs never see. */
const OTHER_SECTIONS = ['Dashboard and team', 'Operator'];

/** A class for each code of docs/partners/errors.md, which a test compares with the service. */
export function errorsSource(page: string): string {
  const rows = page
    .split(/^## /m)
    .filter((section) => !OTHER_SECTIONS.includes(section.split('\n', 1)[0] ?? ''))
    .flatMap(rowsOf);
  const byCode = [...Map.groupBy(rows, ({ code }) => code)].sort(([a], [b]) => (a < b ? -1 : 1));
  const bases = [...new Set(byCode.map(([, [row]]) => (row ? baseOf(row) : '')))].sort();
  const classes = byCode.map(([code, same]) => {
    const lines = same.map(({ status, cause, remedy }) => ` * ${status}: ${cause}. Remedy: ${remedy}.\n`);
    const [row] = same;
    return `/**\n${lines.join('')} */\nexport class ${className(code)} extends ${row ? baseOf(row) : ''} {\n  declare readonly messageCode: '${code}';\n}\n`;
  });
  const map = byCode.map(([code]) => `  ${code}: ${className(code)},\n`).join('');
  return `import { ${bases.join(', ')} } from '../errors.ts';\n\n${classes.join('\n')}
/** The class of each \`message_code\`. */
export const ERROR_CLASSES: Readonly<Record<string, typeof ApiError>> = {\n${map}};
`;
}

function rowsOf(section: string): Row[] {
  const rows = section.matchAll(/^\| (\d{3}) +\| `(\w+)` +\| `(\w+)` +\| ([^|]+) \| ([^|]+) \|$/gm);
  return Array.from(rows, ([, status = '', error = '', code = '', cause = '', remedy = '']) => {
    return { status, error, code, cause: plain(cause), remedy: plain(remedy) };
  });
}

/** Links of the page do not lead anywhere from a comment. */
function plain(cell: string): string {
  return cell.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1').trim();
}

function baseOf({ status, code }: Row): string {
  if (code === 'rate_limit_exceeded' || code === 'not_found') return 'ApiError';
  if (Number(status) >= 500) return 'ServiceError';
  const bases: Record<string, string> = {
    401: 'AuthenticationError',
    403: 'PermissionError',
    409: 'ConflictError',
    422: 'UnprocessableError',
  };
  return bases[status] ?? 'BadRequestError';
}

function className(code: string): string {
  return `${pascalCase(code.replace(/_?error$/, ''))}Error`;
}
