import { createConfig, formatProblems, lintFromString } from '@redocly/openapi-core';
import { readDocuments } from './openapi-documents.ts';

const config = await createConfig({
  extends: ['recommended-strict'],
  rules: {
    'no-invalid-schema-examples': 'error',
    'no-invalid-media-type-examples': 'error',
    'tag-description': 'error',
  },
});

let found = 0;
for (const [name, source] of Object.entries(await readDocuments())) {
  const problems = await lintFromString({ source, absoluteRef: `${name}.json`, config });
  formatProblems(problems, {
    format: 'codeframe',
    totals: { errors: 0, warnings: 0, ignored: 0 },
    version: '',
  });
  found += problems.length;
}
if (found > 0) process.exitCode = 1;
