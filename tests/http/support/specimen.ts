// Bodies made from the description: whole ones, bare ones, and each way one place of them can be wrong.
import { randomUUID } from 'node:crypto';
import { schemaNamed, type Schema } from './contract.js';

type Json = any;
export type Spoilt = { pointer: string; what: string; body: Json };

const listOf = (type: unknown) => [type].flat().filter(one => one !== undefined) as string[];

function whole(schema: Schema): Schema {
  return schema['$ref'] === undefined ? schema : { ...whole(schemaNamed(schema['$ref'] as string)), ...Object.fromEntries(Object.entries(schema).filter(([key]) => key !== '$ref')) };
}

const propertiesOf = (schema: Schema) => Object.entries((schema['properties'] ?? {}) as Record<string, Schema>);
const isRequired = (schema: Schema, name: string) => ((schema['required'] ?? []) as string[]).includes(name);
const isNullable = (schema: Schema) => listOf(schema['type']).includes('null');
const typeOf = (schema: Schema) => listOf(schema['type']).find(one => one !== 'null');

/** One that fits. `bare`: without what may be left out. */
export function specimen(given: Schema, bare = false): Json {
  const schema = whole(given);
  if (schema['oneOf'] !== undefined) return 'x';
  if (schema['enum'] !== undefined) return (schema['enum'] as Json[])[0];
  switch (typeOf(schema)) {
    case 'object': return Object.fromEntries(propertiesOf(schema).filter(([name]) => !bare || isRequired(schema, name)).map(([name, child]) => [name, specimen(child, bare)]));
    case 'array': return bare ? [] : [specimen(schema['items'] as Schema)];
    case 'integer': return Math.max(1, (schema['minimum'] as number | undefined) ?? 1);
    case 'boolean': return true;
    default: return schema['format'] === 'uuid' ? randomUUID() : 'x';
  }
}

/** The same with null wherever null may stand for nothing. */
export function nulled(given: Schema): Json {
  const schema = whole(given);
  if (isNullable(schema)) return null;
  if (typeOf(schema) !== 'object') return specimen(schema);
  return Object.fromEntries(propertiesOf(schema).map(([name, child]) => [name, nulled(child)]));
}

function wrongValues(schema: Schema): [string, Json][] {
  const wrong: [string, Json][] = isNullable(schema) ? [] : [['null', null]];
  if (schema['oneOf'] !== undefined) return [...wrong, ['a fraction', 1.5], ['an object', {}]];
  switch (typeOf(schema)) {
    case 'object': return [...wrong, ['a list', []], ['text', 'x'], ['a number', 7]];
    case 'array': return [...wrong, ['an object', {}], ['text', 'x'], ['too many', tooMany(schema)]];
    case 'boolean': return [...wrong, ['text', 'true'], ['a number', 1]];
    case 'integer': return [...wrong, ['text', '1'], ['a fraction', 1.5], ...beyond(schema)];
    default: return [...wrong, ['a number', 7], ['a list', ['x']], ...wrongTexts(schema)];
  }
}

const tooMany = (schema: Schema) => Array.from({ length: (schema['maxItems'] as number) + 1 }, () => specimen(schema['items'] as Schema, true));

function beyond(schema: Schema): [string, Json][] {
  const { minimum: least, maximum: most } = schema as { minimum?: number; maximum?: number };
  const values: [string, Json][] = [];
  if (least !== undefined && Number.isSafeInteger(least)) values.push(['too little', least - 1]);
  if (most !== undefined && Number.isSafeInteger(most)) values.push(['too much', most + 1]);
  return values;
}

function wrongTexts(schema: Schema): [string, Json][] {
  if (schema['format'] === 'uuid') return [['no id', 'x'], ['an id with a letter too many', `${randomUUID()}0`]];
  if (schema['enum'] !== undefined) return [['no name', 'nonesuch']];
  const most = schema['x-max-bytes'] as number;
  return [['too many bytes', 'ü'.repeat(most / 2 + 1)]];
}

/** Each way one place of a body can be wrong, with the pointer to it. */
export function* spoilt(given: Schema, pointer = '', put: (value: Json) => Json = value => value): Generator<Spoilt> {
  const schema = whole(given);
  for (const [what, value] of wrongValues(schema)) yield { pointer, what, body: put(value) };
  if (typeOf(schema) === 'array') yield* spoilt(schema['items'] as Schema, `${pointer}/0`, value => put([value]));
  if (typeOf(schema) !== 'object') return;
  const good = specimen(schema);
  yield { pointer: `${pointer}/nonesuch`, what: 'unknown', body: put({ ...good, nonesuch: null }) };
  for (const [name, child] of propertiesOf(schema)) {
    const { [name]: _, ...without } = good;
    if (isRequired(schema, name)) yield { pointer: `${pointer}/${name}`, what: 'missing', body: put(without) };
    yield* spoilt(child, `${pointer}/${name}`, value => put({ ...good, [name]: value }));
  }
}
