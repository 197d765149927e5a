const WARNING = 'Keep it secret; use an environment variable in production.';

/** The line that defines the signing keys, which the code beside it takes as an argument. */
const LINES: Readonly<Record<string, (key: string) => string>> = {
  TypeScript: (key) => `const SIGNING_KEYS = ['${key}'];`,
  Python: (key) => `SIGNING_KEYS = ["${key}"]`,
  Go: (key) => `var signingKeys = []string{"${key}"}`,
  Ruby: (key) => `SIGNING_KEYS = ['${key}'].freeze`,
  PHP: (key) => `const SIGNING_KEYS = ['${key}'];`,
  Java: (key) => `private static final List<String> SIGNING_KEYS = List.of("${key}");`,
  'C#': (key) => `string[] signingKeys = ["${key}"];`,
};

export function withSigningKey(
  { language, imports, code }: { language: string; imports?: string; code: string },
  key: string,
): string {
  const line = LINES[language];
  if (!line) throw new Error(`${language} has no line for the signing key`);
  const comment = language === 'Python' || language === 'Ruby' ? '#' : '//';
  return [imports, `${comment} ${WARNING}\n${line(key)}`, code]
    .filter((part) => part !== undefined)
    .join('\n\n');
}
