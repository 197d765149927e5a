import { SerializerSelector } from '@fastify/fast-json-stringify-compiler';
import { once } from './once.ts';

/** Fastify's own serializers, each compiled for its first answer. */
export function createSerializerFactory(): ReturnType<typeof SerializerSelector> {
  const createCompiler = SerializerSelector();
  return (schemas, options) => {
    const compile = createCompiler(schemas, options);
    return (route) => {
      const serializer = once(() => compile(route));
      return (value) => serializer()(value);
    };
  };
}
