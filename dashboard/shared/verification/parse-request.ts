/** A request as it stands in a log, in `curl -v`, in a curl command, or with its headers as JSON. */
type PastedRequest = { headers: Record<string, string>; body: string };

const EMPTY_LINES = /\r?\n(?:>?[ \t]*\r?\n)+/;
const DATA_OF_CURL = /(?:--data(?:-raw|-binary)?|-d)\s+'([^']*)'/;
/** Lines with `<` are of the response. */
const HEADER = /^(?:>\s+)?(?:(?:-H|--header)\s+)?['"]?([\w-]+)['"]?\s*:\s*(.*)$/;

/** If the body is empty, it is taken from below an empty line of the headers, or from the curl command. */
export function parseRequest(headers: string, body: string): PastedRequest {
  if (body !== '') return { headers: parseHeaders(headers), body };
  const [head = '', ...rest] = headers.split(EMPTY_LINES);
  return { headers: parseHeaders(head), body: rest.join('\n\n') || (DATA_OF_CURL.exec(headers)?.[1] ?? '') };
}

function parseHeaders(text: string): Record<string, string> {
  const entries = parseJson(text) ?? text.split(/\r?\n/).flatMap(parseLine);
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), value]));
}

/** An object of headers, or a list of names and values as the API has it. */
function parseJson(text: string): [name: string, value: string][] | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed)
      ? parsed.map(({ name, value }) => [String(name), String(value)])
      : Object.entries(parsed as object).map(([name, value]) => [name, String(value)]);
  } catch {
    return undefined;
  }
}

/** Removes the quotes, commas and backslashes that objects and commands put around a header. */
function parseLine(line: string): [name: string, value: string][] {
  const [, name, rest] = HEADER.exec(line.trim()) ?? [];
  if (name === undefined || rest === undefined) return [];
  const value = rest.replace(/\s*\\$/, '').replace(/,$/, '');
  return [[name, value.replace(/^['"]|['"]$/g, '')]];
}
