// Lists, caches, pages that are no commands.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Caller, newKey, ok } from './support/caller.js';
import { operations } from './support/contract.js';
import { Daemon } from './support/daemon.js';
import { Review } from './support/review.js';
import { readdirSync } from 'node:fs';

let daemon: Daemon, review: Review, ada: Caller;
before(async () => {
  daemon = await Daemon.start({ 'allowed-origins': 'https://review.example.org' });
  review = await Review.ready(daemon);
  ada = await review.member('reviewer');
});
after(() => daemon.done());

async function allPages(path: string, limit: number): Promise<any[]> {
  const all: any[] = [];
  let cursor = '';
  for (;;) {
    const { json, text, status } = await ada.get(`${path}?limit=${limit}${cursor}`);
    assert.equal(status, 200, text);
    assert.ok(json.items.length <= limit);
    all.push(...json.items);
    if (json.next === null) return all;
    assert.ok(json.items.length > 0, 'a page that is not the last has something on it');
    cursor = `&cursor=${json.next}`;
  }
}

test('1,200 studies come page by page with no gap and no repeat, in the same order whatever the page\'s size', async () => {
  const many = await Review.create(daemon, 'Many');
  for (let at = 0; at < 1200; at += 400) await many.addStudies(Array.from({ length: 400 }, (_, i) => ({ customId: `C-${at + i}` })));
  const reader = await many.member('observer');
  const own = ada;
  ada = reader;
  const orders = [];
  for (const limit of [500, 100, 37, 400]) {
    const found = (await allPages(`${many.path}/studies`, limit)).map(study => study.id as string);
    assert.equal(new Set(found).size, 1200);
    assert.deepEqual([...found].sort(), [...many.studies].sort());
    orders.push(found.join());
  }
  ada = own;
  assert.equal(new Set(orders).size, 1);
});

test('what is added while somebody pages makes them miss or repeat nothing that was there', async () => {
  const growing = await Review.create(daemon, 'Growing');
  await growing.addStudies(Array.from({ length: 300 }, (_, i) => ({ customId: `old-${i}` })));
  const before = [...growing.studies];
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const page = ok(await growing.admin.api.GET('/v1/projects/{project}/studies', {
      params: { path: { project: growing.project }, query: { limit: 50, ...(cursor === undefined ? {} : { cursor }) } },
    }));
    found.push(...page.items.map(study => study.id));
    cursor = page.next ?? undefined;
    await growing.addStudies(Array.from({ length: 50 }, () => ({ customId: newKey() })));
  } while (cursor !== undefined);
  assert.equal(new Set(found).size, found.length, 'nothing twice');
  for (const id of before) assert.ok(found.includes(id), 'nothing missed');
});

test('studies by their state in a stage are found without a gap, whatever the page\'s size', async () => {
  const pool = await Review.ready(daemon, 700, { target: 1 });
  const reviewer = await pool.member('reviewer');
  const ready = pool.studies.slice(0, 5), begun = pool.studies.slice(5, 12);
  for (const study of ready) await reviewer.post(`${pool.session(study)}/complete`, pool.body({ randomised: false }));
  for (const study of begun) await reviewer.post(`${pool.session(study)}/save`, pool.body({}));
  for (const [state, expected] of [['ready', ready], ['inProgress', begun], ['untouched', pool.studies.slice(12)]] as const)
    for (const limit of [3, 500]) {
      const found: string[] = [];
      let cursor = '';
      do {
        const { json, text } = await reviewer.get(`${pool.path}/studies?limit=${limit}&stage=${pool.stage}&state=${state}${cursor}`);
        assert.ok(json.items.length <= limit, text);
        found.push(...json.items.map((study: any) => study.id));
        cursor = json.next === null ? '' : `&cursor=${json.next}`;
      } while (cursor !== '');
      assert.deepEqual(found.sort(), [...expected].sort(), `${state} by ${limit}`);
    }
  await reviewer.refused('NotFound', 'GET', `${pool.path}/studies?stage=${newKey()}&state=ready`);
});

test('the lists of forms, stages, members and versions page too', async () => {
  const listed = await Review.create(daemon, 'Listed');
  const names = Array.from({ length: 12 }, (_, i) => `N-${String(i).padStart(2, '0')} ${'ü'.repeat(100)}`);
  for (const name of names) {
    await listed.admin.post(`${listed.path}/forms`, { name, capacity: { target: 1 }, questions: [] });
    await listed.admin.post(`${listed.path}/stages`, { name });
    await listed.member('observer');
  }
  await listed.addForm();
  await listed.addStudies([{ title: 'x' }]);
  const reviewer = await listed.member('reviewer');
  let base: string | null = null;
  for (let i = 0; i < 12; i++) base = (await reviewer.post(`${listed.session()}/save`, listed.body({}, { baseVersion: base }))).json.versionId;
  const own = ada;
  ada = listed.admin;
  assert.deepEqual((await allPages(`${listed.path}/forms`, 5)).map(form => form.name).slice(-12), names);
  assert.deepEqual((await allPages(`${listed.path}/stages`, 5)).map(stage => stage.name).slice(0, 12), names);
  assert.equal(new Set((await allPages(`${listed.path}/members`, 5)).map(one => one.investigatorId)).size, 14);
  ada = reviewer;
  assert.deepEqual((await allPages(`${listed.session()}/versions`, 5)).map(version => version.versionSeq), Array.from({ length: 12 }, (_, i) => i + 1));
  ada = own;
});

test('projects are listed to their members alone, page by page, with the roles they have there', async () => {
  const person = new Caller(daemon, 'evidenced:create-project');
  assert.deepEqual((await person.get('/v1/projects')).json, { items: [], next: null });
  const made: string[] = [];
  for (let i = 0; i < 7; i++) made.push((await person.post('/v1/projects', { name: `Project ${i}` })).json.id);
  const joined = await Review.create(daemon, 'Joined');
  await joined.admin.post(`${joined.path}/members`, { investigatorId: person.id, roles: ['reviewer', 'observer'] });
  const own = ada;
  ada = person;
  for (const limit of [3, 500]) {
    const found = await allPages('/v1/projects', limit);
    assert.deepEqual(found.map(project => project.id), [joined.project, ...made], 'by name');
    assert.deepEqual(found.find(project => project.id === joined.project).roles, ['reviewer', 'observer']);
  }
  await joined.admin.post(`${joined.path}/members`, { investigatorId: person.id, roles: [] });
  assert.deepEqual((await allPages('/v1/projects', 500)).map(project => project.id).sort(), [...made].sort());
  ada = own;
  await person.refused('Malformed', 'GET', '/v1/projects?limit=0');
});

test('a cursor of one list is refused by another', async () => {
  const { json } = await review.admin.get(`${review.path}/members?limit=1`);
  await review.admin.refused('Malformed', 'GET', `${review.path}/forms?cursor=${json.next}`);
});

test('a list without a limit has a hundred on its page', async () => {
  const long = await Review.create(daemon, 'Long');
  await long.addStudies(Array.from({ length: 101 }, (_, i) => ({ customId: `${i}` })));
  const { json } = await long.admin.get(`${long.path}/studies`);
  assert.equal(json.items.length, 100);
  assert.notEqual(json.next, null);
});

test('every read answers 304 to its own ETag, 200 after a change, and HEAD like GET', async () => {
  const anna = await review.member('admin', 'reviewer');
  const { tab, ids } = await review.worked(anna);
  for (const { path, operation } of operations.filter(one => one.method === 'get' && one.path.startsWith('/v1/') && one.operation.responses['304'] !== undefined)) {
    const at = review.filled(path, ids);
    const first = await anna.get(at);
    assert.equal(first.status, 200, `${operation.operationId}: ${first.text}`);
    const etag = first.headers.get('etag')!;
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) assert.equal((await anna.get(at, { 'If-None-Match': known })).status, 304, `${operation.operationId} ${known}`);
    assert.equal((await anna.get(at, { 'If-None-Match': '"other"' })).status, 200);
    const head = await anna.ask('HEAD', at);
    assert.deepEqual([head.status, head.headers.get('etag'), head.text], [200, etag, '']);
    assert.equal(head.headers.get('content-length'), String(Buffer.byteLength(first.text)));
    const immutable = /(Version|SessionChanges)(ById)?$/.test(operation.operationId);
    assert.equal(first.headers.get('cache-control'), immutable ? 'private, immutable, max-age=31536000' : 'no-store');
  }
  const etag = (await anna.get(review.session())).headers.get('etag')!;
  await anna.post(`${review.session()}/save`, review.body({ dose: '2' }, { baseVersion: tab.base, draft: tab.named }));
  assert.equal((await anna.get(review.session(), { 'If-None-Match': etag })).status, 200);
});

test('every outcome is explained at the address its type names, in the words of its page', async () => {
  const pages = readdirSync('api/problems').map(name => name.replace(/\.md$/, ''));
  assert.ok(pages.length >= 40);
  for (const name of pages) {
    const page = await ada.ask('GET', `/problems/${name}`, { token: null });
    assert.equal(page.status, 200, name);
    assert.match(page.text, new RegExp(`urn:evidenced:problem:${name}`));
  }
});

test('probes need no token', async () => {
  for (const path of ['/livez', '/readyz', '/startupz']) assert.equal((await ada.ask('GET', path, { token: null })).status, 200);
});

test('metrics and the version are at the other door only', async () => {
  for (const path of ['/metrics', '/version']) {
    await ada.refused('NotFound', 'GET', path);
    assert.equal((await fetch(daemon.admin + path)).status, 200);
  }
});

test('a page of an allowed origin may call, by every method and with every header a client sets; others may not', async () => {
  const asked = (origin: string, path: string, method: string, headers: string) => ada.ask('OPTIONS', path, {
    token: null, headers: { Origin: origin, 'Access-Control-Request-Method': method, 'Access-Control-Request-Headers': headers },
  });
  const origin = 'https://review.example.org', names = 'authorization,content-type,idempotency-key,if-match,if-none-match,prefer,traceparent';
  for (const { path, method } of operations.filter(one => one.path.startsWith('/v1/'))) {
    const at = path.replace(/\{\w+\}/g, review.project);
    const allowed = await asked(origin, at, method.toUpperCase(), names);
    assert.deepEqual([allowed.status, allowed.headers.get('access-control-allow-origin'), allowed.headers.get('access-control-allow-credentials')], [204, origin, null]);
    assert.ok(allowed.headers.get('access-control-allow-methods')!.split(', ').includes(method.toUpperCase()), `${method} ${path}`);
    const taken = allowed.headers.get('access-control-allow-headers')!.toLowerCase().split(', ');
    for (const name of names.split(',')) assert.ok(taken.includes(name), name);
    for (const other of ['https://elsewhere.example.org', 'null', `${origin}.evil.example`, 'http://review.example.org', `${origin}/`]) {
      const refused = await asked(other, at, method.toUpperCase(), names);
      for (const name of ['origin', 'methods', 'headers']) assert.equal(refused.headers.get(`access-control-allow-${name}`), null, other);
      assert.equal(refused.headers.get('vary'), 'Origin');
    }
  }
});

test('an answer to a page of an allowed origin may be read by it, refusals too', async () => {
  const headers = { Origin: 'https://review.example.org' };
  const draft = await ada.ask('PUT', `${review.session()}/draft`, { headers, body: {} });
  for (const answer of [await ada.get(review.path, headers), await ada.get(`${review.path}/none`, headers), draft]) {
    assert.equal(answer.headers.get('access-control-allow-origin'), 'https://review.example.org');
    const exposed = answer.headers.get('access-control-expose-headers')!.split(', ');
    for (const name of ['ETag', 'Location', 'Retry-After', 'Preference-Applied', 'X-Request-Id', 'Idempotency-Replayed']) assert.ok(exposed.includes(name), name);
    assert.equal(answer.headers.get('vary'), 'Origin');
  }
  const other = await ada.get(review.path, { Origin: 'https://elsewhere.example.org' });
  assert.deepEqual([other.status, other.headers.get('access-control-allow-origin'), other.headers.get('vary')], [200, null, 'Origin']);
});
