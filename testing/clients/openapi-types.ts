import { registerHooks } from 'node:module';
import type { OpenAPITSOptions } from 'openapi-typescript';

/** openapi-typescript needs the compiler API, which TypeScript 7 does not have. */
registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier === 'typescript' ? 'typescript-5' : specifier, context),
});

/** The types of a document, as `npx openapi-typescript` writes them. */
export async function generateTypes(document: object, options: OpenAPITSOptions = {}): Promise<string> {
  const { default: generate, astToString } = await import('openapi-typescript');
  return astToString(await generate(document as Parameters<typeof generate>[0], options));
}
