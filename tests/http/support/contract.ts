// api/openapi.yaml as the judge of what is really sent and answered.
import { appendFileSync, readFileSync } from 'node:fs';
import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { parse } from 'yaml';

export type Schema = Record<string, unknown>;
type Content = Record<string, { schema: Schema; example?: unknown }>;
type Response = { $ref?: string; content?: Content; headers?: Record<string, unknown> };
type Parameter = { $ref?: string; name: string; in: string; required?: boolean };
export type Operation = {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { content: Content };
  'x-max-bytes'?: number;
  responses: Record<string, Response>;
  'x-outcomes'?: string[];
};
type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema>; responses: Record<string, Response>; parameters: Record<string, Parameter> };
};

const document = parse(readFileSync(process.env['EVIDENCED_OPENAPI'] ?? 'api/openapi.yaml', 'utf8')) as Document;

export const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })));

/** What a schema of the description says, closed: a member that is not described is an error, in answers too. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed);
  if (node === null || typeof node !== 'object') return node;
  const made: Schema = {};
  for (const [key, child] of Object.entries(node)) {
    if (key === 'discriminator' || key === 'description' || key === 'examples') continue;
    if (key === 'properties') made[key] = Object.fromEntries(Object.entries(child as Schema).map(([name, schema]) => [name, closed(schema)]));
    else if (key === '$ref') made[key] = (child as string).replace('#/components/schemas/', '/schemas/');
    else made[key] = closed(child);
  }
  if (made['properties'] !== undefined) made['additionalProperties'] ??= false;
  return made;
}

/** By `#/components/schemas/Name`. */
export function schemaNamed(ref: string): Schema {
  return document.components.schemas[ref.split('/').pop()!]!;
}

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true, validateFormats: true });
formats.default(ajv);
ajv.addKeyword({ keyword: 'x-max-bytes', type: 'string', validate: (most: number, text: string) => Buffer.byteLength(text) <= most });
for (const [name, schema] of Object.entries(document.components.schemas)) ajv.addSchema(closed(schema) as Schema, `/schemas/${name}`);

const compiled = new Map<Schema, ValidateFunction>();

function validator(schema: Schema): ValidateFunction {
  let validate = compiled.get(schema);
  if (validate === undefined) compiled.set(schema, (validate = ajv.compile(closed(schema) as Schema)));
  return validate;
}

const shown = (validate: ValidateFunction, value: unknown) =>
  `${ajv.errorsText(validate.errors)}\n${JSON.stringify(value)?.slice(0, 2000)}`;

/** The operation a request is of; undefined for a path or method the description does not have. */
export function operationOf(method: string, path: string): Operation | undefined {
  const steps = path.split('?')[0]!.split('/');
  const fits = (template: string) => {
    const wanted = template.split('/');
    return wanted.length === steps.length && wanted.every((step, i) => step.startsWith('{') || step === steps[i]);
  };
  const literalFirst = operations.filter(({ path: template, method: of }) => of === method.toLowerCase() && fits(template))
    .sort((a, b) => a.path.split('{').length - b.path.split('{').length);
  return literalFirst[0]?.operation;
}

/** Would a client that checks its requests against the description send this body? */
export function requestFits(operation: Operation, body: unknown): boolean {
  return validator(operation.requestBody!.content['application/json']!.schema)(body);
}

/** The headers of a request that the description has for it, by their names. */
export function headersOf(operation: Operation): Map<string, Parameter> {
  const whole = (operation.parameters ?? []).map(one => (one.$ref === undefined ? one : document.components.parameters[one.$ref.split('/').pop()!]!));
  return new Map(whole.filter(one => one.in === 'header').map(one => [one.name, one]));
}

/** What makes the request of an operation whole: the body of its example, and a condition where one is needed. */
export function exampleOf(operation: Operation): { text?: string; headers: Record<string, string> } {
  const [type, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const headers: Record<string, string> = headersOf(operation).has('If-Match') ? { 'If-None-Match': '*' } : {};
  if (type === undefined) return { headers };
  return { text: typeof media!.example === 'string' ? media!.example : JSON.stringify(media!.example), headers: { ...headers, 'Content-Type': type } };
}

/** Would such a client send this, with these headers? */
export function sentFits(operation: Operation, headers: Headers, text: string | undefined): boolean {
  for (const [name, { required }] of headersOf(operation)) if (required && !headers.has(name)) return false;
  if (operation.requestBody === undefined || text === undefined) return operation.requestBody === undefined && text === undefined;
  const type = headers.get('content-type')!.split(';')[0]!;
  return type === 'application/json' ? requestFits(operation, JSON.parse(text)) : operation.requestBody.content[type] !== undefined;
}

const seen = new Set<string>();

function note(line: string): void {
  const file = process.env['EVIDENCED_SEEN'];
  if (file === undefined || seen.has(line)) return;
  seen.add(line);
  appendFileSync(file, `${line}\n`);
}

export type Answer = { status: number; headers: Headers; text: string };

const resolved = (response: Response): Response =>
  response.$ref === undefined ? response : document.components.responses[response.$ref.split('/').pop()!]!;

export type Problem = { type: string; title: string; status: number; detail: string; outcome: string; retryable: boolean } & Record<string, unknown>;

function checkProblem(answer: Answer): Problem {
  const problem = JSON.parse(answer.text) as Problem;
  assert.equal(problem.status, answer.status, 'the body repeats the status');
  assert.equal(answer.headers.has('retry-after'), problem.retryable, `Retry-After goes with retryable: ${answer.text}`);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  const schema = document.components.schemas[problem.outcome];
  assert.ok(schema !== undefined, `the description has no outcome ${problem.outcome}`);
  const validate = validator(schema);
  assert.ok(validate(problem), shown(validate, problem));
  return problem;
}

/** Is this an answer the description allows? For an operation it does not have, only problems are. */
export function checkAnswer(operation: Operation | undefined, answer: Answer): void {
  const requestId = answer.headers.get('x-request-id');
  assert.ok(requestId, 'every response has an X-Request-Id');
  const isProblem = answer.status >= 400;
  assert.notEqual(answer.status, 500, answer.text);
  const problem = isProblem && answer.text !== '' ? checkProblem(answer) : undefined;
  if (problem !== undefined) assert.equal(problem['instance'], `urn:evidenced:request:${requestId}`);
  if (operation === undefined) {
    assert.ok(isProblem, `the description does not have what was answered ${answer.status}`);
    note(`- ${answer.status} ${problem?.outcome}`);
    return;
  }
  note(`${operation.operationId} ${answer.status} ${problem?.outcome ?? ''}`.trim());
  checkDescribed(operation, answer);
}

/** What the schema is of: the body, or, of lines, each. */
function valuesOf(type: string, text: string): unknown[] {
  if (type === 'application/x-ndjson') return linesOf(text);
  return [type.endsWith('json') ? JSON.parse(text) : text];
}

export function linesOf(text: string): any[] {
  assert.ok(text === '' || text.endsWith('\n'), 'the last line is ended');
  return text.split('\n').filter(Boolean).map(line => JSON.parse(line));
}

/** Large answers have no such header. */
const isOfOnePiece = (header: unknown) => (header as { $ref?: string }).$ref === '#/components/headers/ETagOfOnePiece';

/** Headers a client goes by: they are there only where the description has them. */
const told = ['ETag', 'Location', 'Retry-After', 'Preference-Applied', 'Idempotency-Replayed', 'WWW-Authenticate', 'Allow', 'Content-Disposition'];

function checkDescribed(operation: Operation, answer: Answer): void {
  const described = operation.responses[answer.status] ?? (answer.status >= 400 ? operation.responses['default'] : undefined);
  assert.ok(described, `${operation.operationId} is not described to answer ${answer.status}`);
  const { content, headers } = resolved(described);
  for (const name of ['ETag', 'Cache-Control', 'Location'])
    if (headers?.[name] !== undefined && !isOfOnePiece(headers[name])) assert.ok(answer.headers.has(name), `${name} is described`);
  for (const name of told) if (answer.headers.has(name)) assert.ok(headers?.[name] !== undefined, `${operation.operationId} is not described to answer ${answer.status} with ${name}`);
  if (content === undefined) {
    assert.equal(answer.text, '');
    return;
  }
  const type = answer.headers.get('content-type')?.split(';')[0] ?? 'no type';
  const media = content[type];
  assert.ok(media !== undefined, `${operation.operationId} is not described to answer ${answer.status} with ${type}`);
  const validate = validator(media.schema);
  for (const value of valuesOf(type, answer.text)) assert.ok(validate(value), `${operation.operationId} ${answer.status}: ${shown(validate, value)}`);
}
