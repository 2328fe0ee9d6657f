// Writes the description of the API: openapi.yaml (3.1), openapi-3.0.json and problems/*.md.
//
//   generate.mjs TABLES OUT        TABLES: what tools/describe prints; OUT: the directory to write to
//
// Facts come from TABLES, words from prose.yaml. Whatever has no words, and whatever words have no fact, is an error.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const yaml = createRequire(join(here, '../tests/http/package.json'))('yaml');
const tables = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const prose = yaml.parse(readFileSync(join(here, 'prose.yaml'), 'utf8'));
const out = process.argv[3];

const faults = [];
const used = new Set();

// The words at this place of prose.yaml; noted as used.
function words(...path) {
  let at = prose;
  for (const step of path) at = at?.[step];
  if (at === undefined) {
    faults.push(`prose.yaml has no ${path.join('.')}`);
    return '';
  }
  used.add(path.join('\u0000'));
  return typeof at === 'string' ? at.trim() : at;
}

const pascal = name => name.split('_').map(part => part[0].toUpperCase() + part.slice(1)).join('');
const camel = name => name[0].toLowerCase() + name.slice(1);
const ref = (section, name) => ({ $ref: `#/components/${section}/${name}` });
const outcomeOf = Object.fromEntries(tables.outcomes.map(outcome => [outcome.name, outcome]));
const components = { schemas: {}, parameters: {}, responses: {}, headers: {}, securitySchemes: {} };

// Schemas of types. One that is both asked and answered has two: what is asked may leave out by null and takes no
// member it does not know; what is answered may grow.

const asked = new Set(), answered = new Set();

function collect(type, into) {
  if (type === null || into.has(type)) return;
  into.add(type);
  for (const field of tables.types[type]) collect(field.of, into);
}
for (const command of tables.commands) {
  collect(command.request, asked);
  collect(command.answer, answered);
}

const schemaName = (type, request) => pascal(type) + (request && answered.has(type) ? 'Input' : '');

function orNull(schema) {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').pop();
    const whole = components.schemas[name];
    const nullable = { ...whole, type: [whole.type, 'null'] };
    if (whole.enum !== undefined) nullable.enum = [...whole.enum, null];
    components.schemas[`${name}OrNull`] = nullable;
    return ref('schemas', `${name}OrNull`);
  }
  return { ...schema, type: [schema.type, 'null'] };
}

function text(maxBytes) {
  return { type: 'string', maxLength: maxBytes, 'x-max-bytes': maxBytes };
}

function number(field) {
  const schema = { type: 'integer', format: 'int64' };
  if (field.least !== null) schema.minimum = field.least;
  if (field.most !== null) schema.maximum = field.most;
  return schema;
}

function enumeration(set) {
  components.schemas[pascal(set)] ??= { type: 'string', description: words('enums', set), enum: tables.names[set] };
  return ref('schemas', pascal(set));
}

function value(field, request) {
  switch (field.kind) {
    case 'uuid': return { type: 'string', format: 'uuid' };
    case 'boolean': return { type: 'boolean' };
    case 'stamp': return { type: 'string', pattern: '^[0-9]{1,20}$' };
    case 'time': return { type: 'string', format: 'date-time' };
    case 'number': return number(field);
    case 'string': return text(field.max);
    case 'enum': return enumeration(field.names);
    case 'nest': return structure(field.of, request);
    case 'list': return { type: 'array', maxItems: field.max, items: structure(field.of, request) };
    case 'strings': return { type: 'array', maxItems: field.max, items: text(field.maxBytes) };
    case 'uuids': return { type: 'array', maxItems: field.max, items: { type: 'string', format: 'uuid' } };
    case 'value': return ref('schemas', 'AnswerValue');
    default: throw new Error(`no schema for a ${field.kind}: ${field.key}`);
  }
}

// Strings that are names of a set although the table does not say so.
function narrowed(type, field, schema) {
  const set = prose.types[type]?.names?.[field.key];
  if (set === undefined) return schema;
  used.add(['types', type, 'names', field.key].join('\u0000'));
  const name = set === 'errorCode' ? ref('schemas', 'ErrorCode') : enumeration(set);
  return schema.type === 'array' ? { ...schema, items: name } : name;
}

function member(type, field, request) {
  let schema = narrowed(type, field, value(field, request));
  if (field.need === 'nullable' || (request && field.need === 'optional')) schema = orNull(schema);
  const own = prose.types[type]?.members?.[field.key] !== undefined;
  return { ...schema, description: own ? words('types', type, 'members', field.key) : words('members', field.key) };
}

function structure(type, request) {
  const name = schemaName(type, request);
  if (components.schemas[name] !== undefined) return ref('schemas', name);
  const schema = (components.schemas[name] = { type: 'object', description: words('types', type, 'description') });
  const required = tables.types[type].filter(field => field.need !== 'optional').map(field => field.key);
  if (required.length > 0) schema.required = required;
  schema.properties = {};
  for (const field of tables.types[type]) schema.properties[field.key] = member(type, field, request);
  if (request) schema.additionalProperties = false;
  return ref('schemas', name);
}

function answerValue() {
  const string = text(tables.limits.answerTextBytes);
  const exact = Number.MAX_SAFE_INTEGER;
  return {
    description: "An answer: a string (text, decimal, date, an option, an instance's name), a whole number, true or false, a list of options or of unit instances, or a series.",
    oneOf: [
      string,
      { type: 'integer', format: 'int64', minimum: -exact, maximum: exact },
      { type: 'boolean' },
      { type: 'array', maxItems: tables.limits.answerTexts, items: string },
      { type: 'array', minItems: 1, maxItems: tables.limits.answerPoints, items: structure('answer_point', false) },
    ],
  };
}

function errorCodes() {
  const lines = tables.errorCodes.map(({ code, sentence }) => `- \`${code}\`: ${sentence}`);
  return { type: 'string', description: `What is wrong.\n\n${lines.join('\n')}`, enum: tables.errorCodes.map(({ code }) => code) };
}

// Problems.

// What a well made client never meets is described once, as every operation's default.
const expected = [400, 401, 404, 409, 413, 415, 429, 503];
const edgeOnly = tables.edge.filter(name => !expected.includes(outcomeOf[name].status));
const statusesOf = { NotImplemented: [501, 505] };

function problemExample(outcome) {
  const own = prose.outcomes[outcome.name] ?? {};
  const example = {
    type: `urn:evidenced:problem:${outcome.kebab}`,
    title: outcome.title,
    status: outcome.status,
    detail: own.detail ?? outcome.detail,
    instance: 'urn:evidenced:request:0f8fad5b-d9cb-469f-a165-70867728950e',
    outcome: outcome.name,
  };
  const { reason, ...others } = own.example ?? {};
  if (reason !== undefined) example.reason = reason;
  example.retryable = outcome.retryable;
  if (outcome.status === 409) example.commandId = '4e5f6071-8293-44a5-b6c7-d8e9f0011223';
  return { ...example, ...others };
}

function problem(outcome) {
  const own = prose.outcomes[outcome.name];
  const about = member => words('problemMembers', member);
  const statuses = statusesOf[outcome.name];
  return {
    type: 'object',
    description: `${outcome.title}. ${words('outcomes', outcome.name, 'means')}`,
    required: ['type', 'title', 'status', 'detail', 'outcome', 'retryable', ...(own.required ?? [])],
    properties: {
      type: { type: 'string', const: `urn:evidenced:problem:${outcome.kebab}`, description: about('type') },
      title: { type: 'string', description: about('title') },
      status: { type: 'integer', ...(statuses ? { enum: statuses } : { const: outcome.status }), description: about('status') },
      detail: { type: 'string', description: about('detail') },
      instance: { type: 'string', description: about('instance') },
      outcome: { type: 'string', const: outcome.name, description: about('outcome') },
      retryable: { type: 'boolean', const: outcome.retryable, description: about('retryable') },
      commandId: { type: 'string', format: 'uuid', description: about('commandId') },
      ...own.members,
    },
    examples: [problemExample(outcome)],
  };
}

function problemSchema(name) {
  components.schemas[name] ??= problem(outcomeOf[name]);
  return ref('schemas', name);
}

function problemHeaders(names) {
  const headers = { 'X-Request-Id': ref('headers', 'RequestId') };
  if (names.some(name => outcomeOf[name].retryable)) headers['Retry-After'] = ref('headers', 'RetryAfter');
  if (names.includes('Unauthenticated')) headers['WWW-Authenticate'] = ref('headers', 'WwwAuthenticate');
  if (names.includes('MethodNotAllowed')) headers.Allow = ref('headers', 'Allow');
  return headers;
}

function problemResponse(names) {
  const schemas = names.map(problemSchema);
  const several = {
    oneOf: schemas,
    discriminator: {
      propertyName: 'outcome',
      mapping: Object.fromEntries(names.map((name, i) => [name, schemas[i].$ref])),
    },
  };
  const title = name => `${outcomeOf[name].title}.`;
  return {
    description: names.length === 1 ? title(names[0]) : names.map(name => `- \`${name}\`: ${title(name)}`).join('\n'),
    headers: problemHeaders(names),
    content: { 'application/problem+json': { schema: names.length === 1 ? schemas[0] : several } },
  };
}

// One outcome alone at its status, or the same few for all commands of a kind, are written once.
function sharedResponse(name, names) {
  const response = problemResponse(names);
  const before = components.responses[name];
  if (before !== undefined && JSON.stringify(before) !== JSON.stringify(response))
    faults.push(`the outcomes at ${name} differ between commands`);
  components.responses[name] = response;
  return ref('responses', name);
}

function refusals(command) {
  const names = tables.outcomes.map(outcome => outcome.name).filter(
    name => (command.outcomes.includes(name) || tables.edge.includes(name)) && !edgeOnly.includes(name));
  const responses = {};
  for (const status of [...new Set(names.map(name => outcomeOf[name].status))].sort()) {
    const here = names.filter(name => outcomeOf[name].status === status);
    if (here.length === 1) responses[status] = sharedResponse(here[0], here);
    else if (status === 503) responses[status] = sharedResponse(command.writes ? 'UnavailableToWrite' : 'UnavailableToRead', here);
    else responses[status] = problemResponse(here);
  }
  responses.default = sharedResponse('Transport', edgeOnly);
  return responses;
}

// Operations.

// Headers of requests.
function headerParameters() {
  const made = components.parameters;
  made.IdempotencyKey = {
    name: 'Idempotency-Key', in: 'header', required: true, schema: { type: 'string', format: 'uuid' },
    description: 'A UUID the client makes up, of any version but 8: new for each command, the same when a command is sent again.',
    example: '4e5f6071-8293-44a5-b6c7-d8e9f0011223',
  };
  made.IfNoneMatch = {
    name: 'If-None-Match', in: 'header', schema: { type: 'string' },
    description: 'The `ETag` of what the client has: a 304 says that it is still so.',
  };
  made.IfMatch = {
    name: 'If-Match', in: 'header', schema: { type: 'string' },
    description: 'The `ETag` of what is to be changed, as the client last saw it: 412 when it is another one by now. At most 1 KiB, once.',
    example: '"7"',
  };
  made.IfNoneThere = {
    name: 'If-None-Match', in: 'header', schema: { type: 'string' },
    description: '`*`: only when there is none yet; 412 when there is. One of this and `If-Match` is needed, else 428.',
    example: '*',
  };
  made.Prefer = {
    name: 'Prefer', in: 'header', schema: { type: 'string' },
    description: `\`wait=N\`: the answer may take up to N seconds (at most ${tables.limits.waitSeconds}), and is that of the finished work when it is done by then. Anything else is ignored.`,
    example: 'wait=10',
  };
}

// Query parameters. Those whose values are no closed set of the tables have their schemas here.
const componentOf = name => ({ stage: 'PoolStage', state: 'PoolState' })[name] ?? name[0].toUpperCase() + name.slice(1);

function querySchema({ name, values, most }) {
  const own = {
    limit: () => ({ type: 'integer', minimum: 1, maximum: tables.limits.page, default: tables.limits.pageDefault }),
    stage: () => ({ type: 'string', format: 'uuid' }),
    state: () => enumeration('pool_state'),
    result: () => enumeration('row_result'),
    label: () => ({ type: 'array', maxItems: most, items: { ...text(tables.limits.nameBytes), minLength: 1 } }),
  };
  if (own[name] !== undefined) return own[name]();
  if (values === null) return { type: 'string' };
  return values.includes('true') ? { type: 'boolean', default: false } : { type: 'string', enum: values };
}

function queryParameters() {
  for (const fact of tables.parameters)
    components.parameters[componentOf(fact.name)] = { name: fact.name, in: 'query', description: words('queries', fact.name), schema: querySchema(fact) };
}

function pathParameter(name) {
  components.parameters[pascal(name)] ??= {
    name, in: 'path', required: true, description: words('parameters', name), schema: { type: 'string', format: 'uuid' },
  };
  return pascal(name);
}

function headersOf(command) {
  const names = [];
  if (command.idempotencyKey) names.push('IdempotencyKey');
  if (command.writes && command.conditional) names.push('IfMatch', 'IfNoneThere');
  if (!command.writes) names.push('IfNoneMatch');
  if (command.beginsOperation) names.push('Prefer');
  return names;
}

function parameters(command) {
  const names = [...command.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => pathParameter(name));
  names.push(...command.query.map(componentOf), ...headersOf(command));
  return names.map(name => ref('parameters', name));
}

// What is answered in lines is described by a line; a table by an example alone.
function content(command) {
  const [type] = (command.contentType ?? 'application/json').split(';');
  const schema = command.answer === null ? { type: 'string' } : structure(command.answer, false);
  return { [type]: { schema, example: words('operations', command.name, 'response') } };
}

const operationPath = '/v1/projects/{project}/operations/{operation}';

function answerHeaders(command) {
  const headers = { 'X-Request-Id': ref('headers', 'RequestId'), 'Cache-Control': ref('headers', 'CacheControl') };
  if (command.conditional || !command.writes) headers.ETag = ref('headers', command.streamed ? 'ETagOfOnePiece' : 'ETag');
  if (command.idempotencyKey) headers['Idempotency-Replayed'] = ref('headers', 'IdempotencyReplayed');
  if (command.path === operationPath && command.method === 'get') headers['Retry-After'] = ref('headers', 'AskAgain');
  return headers;
}

// 202, and with `Prefer: wait` the operation as it stands when the wait is over: 200 when it is settled.
function accepted(command) {
  const view = tables.commands.find(({ path, method }) => path === operationPath && method === 'get');
  if (view === undefined) {
    faults.push(`${command.name} begins an operation, and there is no ${operationPath}`);
    return {};
  }
  const headers = { ...answerHeaders(command), Location: ref('headers', 'Location'), 'Preference-Applied': ref('headers', 'PreferenceApplied') };
  const schemas = [...new Set([command.answer, view.answer])].map(type => structure(type, false));
  const example = words('operations', command.name, 'response');
  return {
    200: { description: 'It is settled: the client preferred to wait, and this is what came of it.', headers, content: content(view) },
    202: {
      description: 'It is accepted and under way. The receipt; or, when the client preferred to wait, the operation as it stands.',
      headers: { ...headers, 'Retry-After': ref('headers', 'AskAgain') },
      content: { 'application/json': { schema: schemas.length === 1 ? schemas[0] : { anyOf: schemas }, example } },
    },
  };
}

function success(command) {
  if (command.beginsOperation) return accepted(command);
  const streamed = command.streamed ? ' In pieces: one whose end is missing is not whole.' : '';
  const responses = {
    200: {
      description: command.writes ? 'It took effect; the receipt.' : `What is there.${streamed}`,
      headers: answerHeaders(command),
      content: content(command),
    },
  };
  if (!command.writes) responses[304] = ref('responses', 'NotModified');
  return responses;
}

// Bodies: JSON, or a file of references.
const fileTypes = ['text/csv', 'text/tab-separated-values', 'application/x-research-info-systems'];

function requestBody(command) {
  if (!command.references)
    return { required: true, content: { 'application/json': { schema: structure(command.request, true), example: words('operations', command.name, 'request') } } };
  const file = { schema: { type: 'string' } };
  const example = { ...file, example: words('operations', command.name, 'request') };
  return { required: true, content: Object.fromEntries(fileTypes.map((type, i) => [type, i === 0 ? example : file])) };
}

const size = bytes => (bytes % 1048576 === 0 ? `${bytes / 1048576} MiB` : `${bytes / 1024} KiB`);

function operation(command) {
  const tag = words('operations', command.name, 'tag');
  if (prose.tags[tag] === undefined) faults.push(`there is no tag ${tag}`);
  const sentences = [words('operations', command.name, 'description')];
  const needs = words('capabilities', command.needs);
  const hasBody = command.request !== null || command.references;
  const limit = !hasBody ? '' : `The body has at most ${size(command.bodyLimitBytes)}.`;
  if (needs !== '' || limit !== '') sentences.push([needs, limit].filter(Boolean).join(' '));
  const made = {
    operationId: camel(command.name),
    tags: [tag],
    summary: words('operations', command.name, 'summary'),
    description: sentences.join('\n\n'),
    parameters: parameters(command),
  };
  if (hasBody) made.requestBody = requestBody(command);
  made.responses = { ...success(command), ...refusals(command) };
  made['x-command'] = command.name;
  made['x-capability'] = command.needs;
  if (hasBody) made['x-max-bytes'] = command.bodyLimitBytes;
  made['x-outcomes'] = command.outcomes;
  return made;
}

function paths() {
  const made = {};
  for (const command of tables.commands) (made[command.path] ??= {})[command.method] = operation(command);
  sharedResponse('Unready', ['StoreUnavailable', 'Draining']);
  for (const [path, item] of Object.entries(prose.pages)) made[path] = item;
  return made;
}

function commonComponents() {
  const { schemas, responses, headers, securitySchemes } = components;
  schemas.AnswerValue = answerValue();
  schemas.ErrorCode = errorCodes();
  schemas.RefusalReason = { type: 'string', description: 'Which rule does not allow it.', enum: tables.reasons };
  headers.RequestId = { description: "The request's id, for the operator's log.", schema: { type: 'string' } };
  headers.ETag = { description: 'Of this answer; for `If-None-Match` and, where it is taken, `If-Match`.', schema: { type: 'string' } };
  headers.ETagOfOnePiece = { description: 'Of this answer; for `If-None-Match`. Only of one small enough to come in one piece.', schema: { type: 'string' } };
  headers.CacheControl = { description: '`no-store`, or `private, immutable` for what never changes.', schema: { type: 'string' } };
  headers.IdempotencyReplayed = { description: '`true` when the command took effect before and this is the answer it had then.', schema: { type: 'string', const: 'true' } };
  headers.RetryAfter = { description: 'Seconds to wait; there when `retryable` is true.', schema: { type: 'integer', minimum: 1 } };
  headers.AskAgain = { description: 'Seconds after which it is worth asking again; there while it is under way.', schema: { type: 'integer', minimum: 1 } };
  headers.Location = { description: 'Where the operation is to be read.', schema: { type: 'string' } };
  headers.PreferenceApplied = { description: 'How long the answer could have taken: `wait=N`. There when the client preferred to wait.', schema: { type: 'string' } };
  headers.WwwAuthenticate = { description: 'What is wrong with the token.', schema: { type: 'string' } };
  headers.Allow = { description: 'The methods the path takes.', schema: { type: 'string' } };
  responses.NotModified = { description: 'It is what the client has.', headers: { ETag: ref('headers', 'ETag'), 'X-Request-Id': ref('headers', 'RequestId') } };
  securitySchemes.token = {
    type: 'http', scheme: 'bearer', bearerFormat: 'JWT',
    description: 'A signed token of the configured issuer and audience. The scope `evidenced:create-project` lets its holder create projects.',
  };
}

// A type that may be null wherever it stands needs no schema without null; what nobody takes or sends is not described.
function prune(made) {
  const text = JSON.stringify(made);
  const isUsed = (section, name) => text.includes(`"#/components/${section}/${name}"`);
  for (const name of Object.keys(made.components.schemas))
    if (`${name}OrNull` in made.components.schemas && !isUsed('schemas', name)) delete made.components.schemas[name];
  for (const section of ['parameters', 'headers'])
    for (const name of Object.keys(made.components[section])) if (!isUsed(section, name)) delete made.components[section][name];
  return made;
}

const sorted = object => Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));

function document() {
  commonComponents();
  headerParameters();
  queryParameters();
  const made = {
    openapi: '3.1.0',
    info: {
      title: words('title'), version: tables.version, summary: words('summary'), description: words('description'),
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: 'http://127.0.0.1:8080', description: 'Where the service listens unless told otherwise.' }],
    security: [{ token: [] }],
    tags: Object.keys(prose.tags).map(name => ({ name, description: words('tags', name) })),
    paths: paths(),
  };
  Object.assign(components.schemas, prose.schemas);
  made.components = Object.fromEntries(Object.entries(components).map(([name, section]) => [name, sorted(section)]));
  return prune(made);
}

// 3.0 has no null type, no const, no list of examples, and nothing beside a $ref. `named`: the keys are members' names.
function older(node, named = false) {
  if (Array.isArray(node)) return node.map(child => older(child));
  if (node === null || typeof node !== 'object') return node;
  if (named) return Object.fromEntries(Object.entries(node).map(([name, child]) => [name, older(child)]));
  const { const: only, examples, type, $ref, ...rest } = node;
  const made = {};
  if ($ref !== undefined && Object.keys(rest).length === 0) return { $ref };
  if ($ref !== undefined) made.allOf = [{ $ref }];
  const types = [type].flat().filter(name => name !== 'null' && name !== undefined);
  const nullable = Array.isArray(type) && type.includes('null') ? { nullable: true } : {};
  if (types.length === 1) Object.assign(made, { type: types[0] }, nullable);
  if (types.length > 1) made.anyOf = types.map(name => ({ type: name, ...nullable }));
  for (const [key, child] of Object.entries(rest)) made[key] = key === 'example' ? child : older(child, key === 'properties');
  if (only !== undefined) made.enum = [only];
  if (examples !== undefined) made.example = examples[0];
  return made;
}

function olderDocument(document) {
  const made = { ...older(document), openapi: '3.0.3' };
  delete made.info.summary;
  return made;
}

// Pages.

function givenBy(name) {
  const commands = tables.commands.filter(command => command.outcomes.includes(name)).map(command => `\`${command.name}\``);
  if (tables.edge.includes(name)) return 'Any call may be answered so.';
  if (commands.length === tables.commands.length) return 'Any call may be answered so.';
  if (commands.length === 0) return 'No call of this version is answered so; the name is kept for what is to come.';
  return `Given by ${commands.join(', ')}.`;
}

const plain = schema => (schema.$ref ? schema.$ref.split('/').pop() : [schema.type].flat().join(' or '));

function page(outcome) {
  const own = prose.outcomes[outcome.name] ?? {};
  const members = Object.entries(own.members ?? {}).map(([name, schema]) => {
    const about = schema.description ?? (name === 'reason' ? 'Which rule does not allow it.' : '');
    return `| \`${name}\` | ${plain(schema)}${own.required?.includes(name) ? '' : ', optional'} | ${about} |`;
  });
  const retry = outcome.retryable ? `retryable after ${outcome.retrySeconds} s (\`Retry-After\`)` : 'not retryable';
  const parts = [
    `# ${outcome.name}: ${outcome.title}`,
    `${(statusesOf[outcome.name] ?? [outcome.status]).join(' or ')} · ${retry} · \`urn:evidenced:problem:${outcome.kebab}\``,
    words('outcomes', outcome.name, 'means'),
    '## When', words('outcomes', outcome.name, 'when'), givenBy(outcome.name),
    '## What to do', words('outcomes', outcome.name, 'do'),
    '## The body',
  ];
  if (members.length > 0) parts.push(['| member | type | meaning |', '|---|---|---|', ...members].join('\n'));
  parts.push(`\`\`\`json\n${JSON.stringify(problemExample(outcome), null, 2)}\n\`\`\``);
  return `${parts.join('\n\n')}\n`;
}

// Words without a fact, and codes that are written in the commands and not here.

function checkWords() {
  const check = (path, node, depth) => {
    if (depth === 0 || typeof node !== 'object' || node === null || Array.isArray(node)) {
      if (!used.has(path.join('\u0000'))) faults.push(`prose.yaml has ${path.join('.')}, which is nowhere`);
      return;
    }
    for (const [key, child] of Object.entries(node)) check([...path, key], child, depth - 1);
  };
  for (const [section, depth] of [['members', 1], ['enums', 1], ['capabilities', 1], ['parameters', 1], ['queries', 1], ['tags', 1], ['operations', 2]])
    check([section], prose[section], depth);
  for (const [type, entry] of Object.entries(prose.types))
    for (const key of ['members', 'names']) if (entry[key] !== undefined) check(['types', type, key], entry[key], 1);
  for (const type of Object.keys(prose.types)) if (tables.types[type] === undefined) faults.push(`there is no type ${type}`);
  for (const name of Object.keys(prose.outcomes)) if (outcomeOf[name] === undefined) faults.push(`there is no outcome ${name}`);
}

const described = document();
const pages = tables.outcomes.map(outcome => [outcome.kebab, page(outcome)]);
checkWords();
if (faults.length > 0) {
  for (const fault of new Set(faults)) console.error(`api: ${fault}`);
  process.exit(1);
}
const banner = '# Made by api/generate.mjs from the tables of the service and api/prose.yaml. Do not edit: run `make api`.\n';
mkdirSync(join(out, 'problems'), { recursive: true });
writeFileSync(join(out, 'openapi.yaml'), banner + yaml.stringify(described, { lineWidth: 120, blockQuote: 'literal', aliasDuplicateObjects: false }));
writeFileSync(join(out, 'openapi-3.0.json'), `${JSON.stringify(olderDocument(described), null, 2)}\n`);
for (const [kebab, body] of pages) writeFileSync(join(out, 'problems', `${kebab}.md`), body);
