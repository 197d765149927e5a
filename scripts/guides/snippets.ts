import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A name in bold with the file of the code below it: `**Go** <!-- examples/receivers/go/receiver.go#verify -->`. */
const SNIPPET = /(\*\*([^*\n]+)\*\* <!-- (examples\/[\w./-]+)#(\w+) -->\n\n```\w+\n)(.*?)(\n```)/gs;

/** The page with the current text of each snippet. */
export function withSnippets(root: string, page: string): string {
  return page.replaceAll(SNIPPET, (_, head, _name, file, region, _text, tail) => {
    return `${head}${readRegion(readFileSync(join(root, file), 'utf8'), `${file}#${region}`)}${tail}`;
  });
}

export function filesOfSnippets(page: string): string[] {
  return Array.from(page.matchAll(SNIPPET), ([, , , file = '']) => file);
}

/** PHP needs no imports. */
type Snippet = { language: string; path: string; imports?: string; code: string };

/** The verification code in each language of the page, with the path of its complete server below `/guides`. */
export function readVerificationSnippets(root: string): Snippet[] {
  const page = readFileSync(join(root, 'docs', 'partners', 'webhooks.md'), 'utf8');
  return Array.from(page.matchAll(SNIPPET), ([, , language = '', file = '', region]) => {
    const source = readFileSync(join(root, file), 'utf8');
    return {
      language,
      path: file.replace(/^examples\//, ''),
      ...(source.includes(' region imports') ? { imports: readRegion(source, `${file}#imports`) } : {}),
      code: readRegion(source, `${file}#${region}`),
    };
  });
}

/** The lines between `region <name>` and `endregion`, without their common indentation. */
function readRegion(source: string, name: string): string {
  const [, region] = name.split('#');
  const [, text] =
    new RegExp(`^[ \\t]*(?://|#) region ${region}\\n(.*?)\\n[ \\t]*(?://|#) endregion$`, 'ms').exec(source) ??
    [];
  if (text === undefined) throw new Error(`${name} does not exist`);
  const lines = text.replaceAll('\t', '    ').split('\n');
  const indents = lines.filter((line) => line.trim() !== '').map((line) => /^ */.exec(line)?.[0].length ?? 0);
  const indent = Math.min(...indents);
  return lines
    .map((line) => line.slice(indent))
    .join('\n')
    .trim();
}
