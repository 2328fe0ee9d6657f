// Requests no generated client would send. Whatever is wrong, the answer names the place and nothing happens.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { newKey, type Caller } from './support/caller.js';
import { checkAnswer, operationOf, operations, requestFits } from './support/contract.js';
import { Daemon } from './support/daemon.js';
import { Review } from './support/review.js';
import { Tab } from './support/tab.js';

let daemon: Daemon, review: Review, ada: Caller, save: string;
before(async () => {
  daemon = await Daemon.start();
  review = await Review.ready(daemon, 2);
  ada = await review.member('reviewer');
  save = `${review.session()}/save`;
});
after(() => daemon.done());

const MiB = 1024 * 1024;

test('a body that does not fit is Malformed with the pointer to the place, and the description says so too', async () => {
  const good = () => review.body({ participants: 1 }) as any;
  const change = (edit: (body: any) => void) => { const body = good(); edit(body); return body; };
  const wrong: [string, unknown][] = [
    ['', []], ['', 'text'], ['', null], ['', 7],
    ['/baseVerison', change(body => { body.baseVerison = null; })],
    ['/stage', change(body => { delete body.stage; })],
    ['/stage', change(body => { body.stage = null; })],
    ['/stage', change(body => { body.stage = 'Extraction'; })],
    ['/stage', change(body => { body.stage = 7; })],
    ['/baseVersion', change(body => { delete body.baseVersion; })],
    ['/draft', change(body => { delete body.draft; })],
    ['/draft/etag', change(body => { body.draft = { etag: 0, holder: newKey(), writeSeq: 0 }; })],
    ['/draft/holder', change(body => { body.draft = { etag: 1, writeSeq: 0 }; })],
    ['/formVersion', change(body => { body.formVersion = 0; })],
    ['/formVersion', change(body => { body.formVersion = '1'; })],
    ['/formVersion', change(body => { body.formVersion = 1.5; })],
    ['/answers', change(body => { body.answers = {}; })],
    ['/answers/0', change(body => { body.answers = ['x']; })],
    ['/answers/0/question', change(body => { delete body.answers[0].question; })],
    ['/answers/0/question', change(body => { body.answers[0].question = 'x'.repeat(101); })],
    ['/answers/0/value', change(body => { body.answers[0].value = null; })],
    ['/answers/0/value', change(body => { body.answers[0].value = 1.5; })],
    ['/answers/0/value', change(body => { body.answers[0].value = { a: 1 }; })],
    ['/answers/0/value/1', change(body => { body.answers[0].value = ['a', 1]; })],
    ['/answers/0/value', change(body => { body.answers[0].value = 'x'.repeat(20001); })],
    ['/answers/0/value', change(body => { body.answers[0].value = 2 ** 53; })],
    ['/answers/0/notes', change(body => { body.answers[0].notes = 7; })],
    ['/answers/0/baseRevision', change(body => { delete body.answers[0].baseRevision; })],
    ['/answers/0/path/0/element', change(body => { body.answers[0].path = [{ question: 'q' }]; })],
    ['/answers/0/path', change(body => { body.answers[0].path = Array.from({ length: 11 }, () => ({ question: 'q', element: 'e' })); })],
    ['/answers/0/because', change(body => { body.answers[0].because = 'x'; })],
    ['/withdrawn/0/question', change(body => { body.withdrawn = [{}]; })],
    ['/exposures/0', change(body => { body.exposures = ['x']; })],
  ];
  const operation = operationOf('POST', save)!;
  assert.ok(requestFits(operation, good()));
  for (const [pointer, body] of wrong) {
    const problem = await ada.refused('Malformed', 'POST', save, { body });
    assert.equal(problem['pointer'], pointer, problem.detail);
    assert.ok(!requestFits(operation, body), `the description takes what the service does not: ${pointer}`);
  }
});

test('what the description calls optional may be left out or null, and both are taken', async () => {
  const body = { studies: [{ title: 'One', doi: null, year: null, authors: null }], skipRefused: null };
  const operation = operationOf('POST', `${review.path}/studies/batch`)!;
  assert.ok(requestFits(operation, body));
  assert.equal((await review.admin.post(`${review.path}/studies/batch`, body)).status, 200);
});

test('bytes of UTF-8 count, not characters', async () => {
  const body = { name: 'ü'.repeat(201) };
  assert.equal((await review.admin.refused('Malformed', 'POST', '/v1/projects', { body }))['pointer'], '/name');
  assert.ok(!requestFits(operationOf('POST', '/v1/projects')!, body));
  assert.equal((await review.admin.post('/v1/projects', { name: 'ü'.repeat(200) })).status, 200);
});

test('what is not JSON is Malformed', async () => {
  const good = JSON.stringify(review.body({ participants: 1 }));
  const texts = [
    '', ' ', '{', `${good}x`, `${good}${good}`, '{"name":NaN}', "{'name':'x'}", good.replace('"formVersion":1', '"formVersion":01'),
    good.replace('"formVersion":1', '"formVersion":1,"formVersion":1'), `${good.slice(0, -1)},}`, '{"name":"\\u0000"}', '{"name":"\\ud800"}',
    '\u{feff}{}',
  ];
  for (const text of texts) {
    const problem = await ada.refused('Malformed', 'POST', save, { text });
    assert.equal(problem['pointer'], '', text.slice(0, 60));
  }
});

test('a member that occurs twice is told as such', async () => {
  const problem = await review.admin.refused('Malformed', 'POST', '/v1/projects', { text: '{"name":"a","name":"b"}' });
  assert.match(problem.detail, /twice/);
});

test('what is nested too deep, or has too many values, is refused before it costs anything', async () => {
  const deep = await ada.refused('Malformed', 'POST', save, { text: '['.repeat(33) + ']'.repeat(33) });
  assert.match(deep.detail, /deeper than 32/);
  await ada.refused('Malformed', 'POST', save, { text: '['.repeat(500000) });
  const many = await ada.refused('Malformed', 'POST', save, { text: `[${'{},'.repeat(130000)}{}]` });
  assert.match(many.detail, /more than 120000 values/);
});

test('a body larger than the path takes is BodyTooLarge', async () => {
  await ada.refused('BodyTooLarge', 'POST', save, { text: ' '.repeat(MiB + 1) });
  assert.equal((await ada.refused('Malformed', 'POST', save, { text: ' '.repeat(MiB) }))['pointer'], '');
  await review.admin.refused('BodyTooLarge', 'POST', `${review.path}/studies/batch`, { text: ' '.repeat(8 * MiB + 1) });
});

test('a list with more elements than it may have is refused by its pointer', async () => {
  const studies = Array.from({ length: 1001 }, () => ({ title: 'x' }));
  assert.equal((await review.admin.refused('Malformed', 'POST', `${review.path}/studies/batch`, { body: { studies } }))['pointer'], '/studies');
});

test('the key must be there, a UUID, and not of version 8', async () => {
  const body = review.body({ participants: 1 });
  const wrong = [null, '', 'x', '12', newKey().slice(1), `${newKey()}0`, '00000000-0000-0000-0000-000000000000', newKey().replace(/^(.{14})./, '$18'), `"${newKey()}`];
  for (const key of wrong) {
    const problem = await ada.refused('Malformed', 'POST', save, { body, key });
    assert.equal(problem['header'], 'Idempotency-Key', String(key));
  }
});

test('a page\'s limit is from 1 to 500, and its cursor one the list gave', async () => {
  for (const limit of ['0', '501', '-1', 'x', '1.5', '', '99999999999999999999'])
    assert.equal((await ada.refused('Malformed', 'GET', `${review.path}/studies?limit=${limit}`))['parameter'], 'limit', limit);
  for (const cursor of ['x', 'zz', '00', 'f'.repeat(31), 'f'.repeat(5000)])
    assert.equal((await ada.refused('Malformed', 'GET', `${review.path}/studies?cursor=${cursor}`))['parameter'], 'cursor', cursor);
});

test('a query parameter that is not taken, or goes with one that is missing, is named', async () => {
  const wrong: [string, string][] = [
    ['', 'limit=1'], [`/studies/${review.studies[0]}`, 'cursor=00'], ['/forms', 'stage=x'], ['/studies', 'Limit=1'], ['/studies', 'offset=1'],
    ['/studies', 'stage=x&state=ready'], ['/studies', 'state=ready'], ['/studies', `stage=${review.stage}`], ['/studies', `stage=${review.stage}&state=done`],
  ];
  const named = ['limit', 'cursor', 'stage', 'Limit', 'offset', 'stage', 'state', 'state', 'state'];
  for (const [at, [path, query]] of wrong.entries())
    assert.equal((await ada.refused('Malformed', 'GET', `${review.path}${path}?${query}`))['parameter'], named[at], query);
});

test('only application/json is taken, and not coded', async () => {
  const body = review.body({ participants: 1 });
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json-patch+json', ''])
    await ada.refused('UnsupportedMediaType', 'POST', save, { body, headers: { 'Content-Type': type } });
  await ada.refused('UnsupportedMediaType', 'POST', save, { body, headers: { 'Content-Encoding': 'gzip' } });
  assert.equal((await ada.ask('POST', save, { body, headers: { 'Content-Type': 'Application/JSON; charset=utf-8' } })).status, 200);
});

test('a method the path does not take is MethodNotAllowed with those it takes', async () => {
  const taken = new Map<string, string[]>();
  for (const { path, method } of operations.filter(one => one.path.startsWith('/v1/'))) taken.set(path, [...(taken.get(path) ?? []), method.toUpperCase()]);
  for (const [path, methods] of taken) {
    const at = path.replace(/\{\w+\}/g, review.project);
    const allowed = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].sort();
    for (const other of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'].filter(method => !allowed.includes(method))) {
      const reply = await ada.ask(other, at);
      assert.deepEqual([reply.status, reply.problem?.outcome], [405, other === 'HEAD' ? undefined : 'MethodNotAllowed']);
      assert.deepEqual(reply.headers.get('allow')!.split(', ').sort(), allowed, `${other} ${path}`);
    }
    const options = await ada.ask('OPTIONS', at, { token: null });
    assert.deepEqual([options.status, options.headers.get('allow')!.split(', ').sort()], [204, allowed], path);
  }
});

test('a path that is none is NotFound', async () => {
  for (const path of ['/', '/v1', '/v1/projects/x', `${review.path}/`, `${review.path}/nothing`, '/v2/projects', `${review.path}/studies/${review.studies[0]}x`, '/problems/none'])
    await ada.refused('NotFound', 'GET', path);
});

test('a path longer than any is PathTooLong', async () => {
  await ada.refused('PathTooLong', 'GET', `/v1/projects/${'x'.repeat(3000)}`);
});

/** What node:http sends when told exactly what. */
function sent(options: { method: string; path: string; headers: Record<string, string | string[]>; body?: string }): Promise<{ status: number; headers: Headers; text: string }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(daemon.api);
    const asked = request({ hostname, port, agent: false, ...options }, response => {
      let text = '';
      response.setEncoding('utf8').on('data', piece => { text += piece; }).on('end', () => {
        resolve({ status: response.statusCode!, headers: new Headers(Object.entries(response.headers).map(([name, value]) => [name, String(value)] as [string, string])), text });
      });
    });
    asked.on('error', reject);
    asked.end(Buffer.from(options.body ?? '')); // bytes: a string would have the headers recoded with it
  });
}

test('a body in chunks is LengthRequired', async () => {
  const headers = { Authorization: `Bearer ${ada.token}`, 'Content-Type': 'application/json', 'Idempotency-Key': newKey(), 'Transfer-Encoding': 'chunked' };
  const answer = await sent({ method: 'POST', path: save, headers, body: '{}' });
  assert.deepEqual([answer.status, JSON.parse(answer.text).outcome], [411, 'LengthRequired']);
  checkAnswer(operationOf('POST', save), answer);
});

test('a condition that is given twice, is too long or is not text is Malformed, and names its header', async () => {
  const tab = new Tab(review, ada, review.studies[1]!), body = JSON.stringify(tab.body({ participants: 1 }));
  const put = async (name: string, value: string | string[]) => {
    const headers = { Authorization: `Bearer ${ada.token}`, 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)), [name]: value };
    const answer = await sent({ method: 'PUT', path: tab.at, headers, body });
    checkAnswer(operationOf('PUT', tab.at), answer);
    return JSON.parse(answer.text);
  };
  for (const name of ['If-Match', 'If-None-Match'])
    for (const value of [['"1"', '"2"'], ['*', '*'], `"${'1'.repeat(1023)}"`, '"\xff"', '"\xc3("']) {
      const problem = await put(name, value);
      assert.deepEqual([problem.outcome, problem.header], ['Malformed', name], String(value).slice(0, 20));
    }
  assert.equal((await put('If-Match', `"${'1'.repeat(1022)}"`)).outcome, 'PreconditionFailed', 'the longest names no draft');
  await ada.refused('NotFound', 'GET', tab.at);
});

/** The answer to bytes that are no request. */
function answerTo(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(daemon.api);
    let text = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.setEncoding('utf8').on('data', piece => { text += piece; }).on('close', () => resolve(text)).on('error', reject);
  });
}

test('what is not HTTP as it should be gets a problem too, and the connection ends', async () => {
  const head = `Host: x\r\nAuthorization: Bearer ${ada.token}\r\nConnection: close\r\n`;
  const wrong: [string, number, string][] = [
    [`BREW /v1/projects HTTP/1.1\r\n${head}\r\n`, 501, 'NotImplemented'],
    [`POST ${save} HTTP/1.1\r\n${head}Transfer-Encoding: gzip\r\n\r\n`, 501, 'NotImplemented'],
    [`POST ${save} HTTP/1.1\r\n${head}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x`, 400, 'Malformed'],
    [`POST ${save} HTTP/1.1\r\n${head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`, 400, 'Malformed'],
    [`GET /v1/projects/%00 HTTP/1.1\r\n${head}\r\n`, 400, 'Malformed'],
    [`GET /../v1 HTTP/1.1\r\n${head}\r\n`, 400, 'Malformed'],
    [`GET /v1 HTTP/1.1\r\nConnection: close\r\n\r\n`, 400, 'Malformed'],
  ];
  for (const [bytes, status, outcome] of wrong) {
    const [top, text] = (await answerTo(bytes)).split('\r\n\r\n') as [string, string];
    const [line, ...fields] = top.split('\r\n');
    assert.equal(line!.split(' ')[1], String(status), bytes.slice(0, 120));
    assert.equal(JSON.parse(text).outcome, outcome);
    checkAnswer(undefined, { status, headers: new Headers(fields.map(field => field.split(/: */, 2) as [string, string])), text });
  }
});

test('more headers than the service takes, or larger ones, are HeadersTooLarge', async () => {
  const many = Object.fromEntries(Array.from({ length: 120 }, (_, i) => [`X-${i}`, 'x']));
  for (const headers of [many, { 'X-Large': 'x'.repeat(25000) }]) {
    const answer = await sent({ method: 'GET', path: review.path, headers: { Authorization: `Bearer ${ada.token}`, ...headers } });
    assert.deepEqual([answer.status, JSON.parse(answer.text).outcome], [431, 'HeadersTooLarge']);
    checkAnswer(operationOf('GET', review.path), answer);
  }
});

test('none of it left anything behind', async () => {
  const { items } = (await ada.get(`${review.session()}/versions`)).json;
  assert.equal(items.length, 1, 'only what was taken');
});
