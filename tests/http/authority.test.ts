// Who may do what, and what is shown to whom.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Caller, newKey } from './support/caller.js';
import { operations } from './support/contract.js';
import { Daemon } from './support/daemon.js';
import { questions, Review } from './support/review.js';

let daemon: Daemon, review: Review;
before(async () => {
  daemon = await Daemon.start();
  review = await Review.ready(daemon, 5);
});
after(() => daemon.done());

/** The template with the review's own ids in it. */
function filled(path: string): string {
  const ids: Record<string, string> = { project: review.project, study: review.studies[0]!, form: review.form, stage: review.stage, version: review.formVersion };
  return path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? review.formVersion);
}

const commands = operations.filter(({ path }) => path.startsWith('/v1/'));

test('without a token every operation is Unauthenticated, and so is one with a token that is none', async () => {
  const nobody = new Caller(daemon);
  for (const { method, path } of commands)
    for (const token of [null, 'none', `${nobody.token.slice(0, -8)}AAAAAAAA`]) {
      const raw = { token, ...(method === 'post' ? { body: {} } : {}) };
      await nobody.refused('Unauthenticated', method.toUpperCase(), filled(path), raw);
    }
});

test('a challenge comes with it, and says what is wrong with the token', async () => {
  const nobody = new Caller(daemon);
  const without = await nobody.ask('GET', review.path, { token: null });
  assert.equal(without.headers.get('www-authenticate'), 'Bearer realm="evidenced"');
  const wrong = await nobody.ask('GET', review.path, { token: 'none' });
  assert.match(wrong.headers.get('www-authenticate')!, /error="invalid_token"/);
});

test('to whom is no member a project is not there, and neither is one that does not exist', async () => {
  const stranger = new Caller(daemon);
  for (const { method, path, operation } of commands) {
    if (operation.operationId === 'createProject') continue;
    const body = (operation.requestBody?.content['application/json'] as { example?: unknown } | undefined)?.example;
    const raw = body === undefined ? {} : { body };
    const theirs = await stranger.refused('NotFound', method.toUpperCase(), filled(path), raw);
    const none = await stranger.refused('NotFound', method.toUpperCase(), filled(path).replace(review.project, newKey()), raw);
    assert.equal(theirs.detail, none.detail);
  }
});

test('a record that is not there, or is another project\'s, is not found', async () => {
  const other = await Review.ready(daemon);
  const observer = await review.member('observer');
  for (const id of [newKey(), other.studies[0]!]) await observer.refused('NotFound', 'GET', `${review.path}/studies/${id}`);
  for (const id of [newKey(), other.form]) await observer.refused('NotFound', 'GET', `${review.path}/forms/${id}`);
  for (const id of [newKey(), other.stage]) await observer.refused('NotFound', 'GET', `${review.path}/stages/${id}`);
  for (const id of [newKey(), other.formVersion]) await observer.refused('NotFound', 'GET', `${review.path}/forms/${review.form}/versions/${id}`);
  const ada = await review.member('reviewer');
  await ada.refused('NotFound', 'GET', review.session());
  await ada.refused('NotFound', 'GET', `${review.session()}/versions/${newKey()}`);
  await ada.refused('NotFound', 'POST', `${review.session(other.studies[0])}/save`, { body: review.body({}) });
  await ada.refused('NotFound', 'POST', `${review.session(review.studies[0], other.form)}/save`, { body: review.body({}) });
  await ada.refused('NotFound', 'POST', `${review.session()}/save`, { body: review.body({}, { stage: other.stage }) });
  await ada.refused('NotFound', 'POST', `${review.session()}/withdraw`, { body: { stage: newKey(), baseVersion: newKey(), draft: null } });
});

test('each role may do what it may, and nothing else', async () => {
  const allowed: Record<string, string[]> = {
    admin: ['administer', 'seeOthers'], reviewer: ['extract'], reconciler: ['seeOthers'], queryReviewer: [], observer: [],
  };
  const probes: [string, string, unknown][] = [
    ['administer', `${review.path}/stages`, { name: 'Another' }],
    ['administer', `${review.path}/forms`, { name: 'Another', capacity: { target: 1 }, questions }],
    ['administer', `${review.path}/studies/batch`, { studies: [{ title: 'Another' }] }],
    ['administer', `${review.path}/members`, { investigatorId: newKey(), roles: ['observer'] }],
    ['seeOthers', `${review.path}/members`, undefined],
  ];
  for (const [role, may] of Object.entries(allowed)) {
    const person = await review.member(role as 'admin');
    const save = await person.post(`${review.session(review.studies[role === 'reviewer' ? 1 : 2])}/save`, review.body({}));
    assert.equal(save.problem?.outcome, may.includes('extract') ? undefined : 'Refused', role);
    assert.equal((await person.get(`${review.path}/studies`)).status, 200, role);
    for (const [needs, path, body] of probes) {
      const { status, json } = await person.ask(body === undefined ? 'GET' : 'POST', path, body === undefined ? {} : { body });
      assert.deepEqual([status, json.reason], may.includes(needs) ? [200, undefined] : [409, 'permission'], `${role} ${path}`);
    }
  }
});

test('creating a project needs the scope', async () => {
  assert.equal((await new Caller(daemon).refused('Refused', 'POST', '/v1/projects', { body: { name: 'No' } }))['reason'], 'permission');
});

test('whose roles are taken away is no member on the very next call, and is listed without roles', async () => {
  const ada = await review.member('reviewer');
  assert.equal((await ada.get(review.path)).status, 200);
  await review.admin.post(`${review.path}/members`, { investigatorId: ada.id, roles: [] });
  await ada.refused('NotFound', 'GET', review.path);
  await ada.refused('NotFound', 'POST', `${review.session()}/save`, { body: review.body({}) });
  const { items } = (await review.admin.get(`${review.path}/members?limit=500`)).json;
  assert.deepEqual(items.find((one: any) => one.investigatorId === ada.id).roles, []);
});

test('a reviewer sees counts and their own entry, never the others\'; who reconciles sees all', async () => {
  const study = review.studies[4]!;
  const [ada, bob] = [await review.member('reviewer'), await review.member('reviewer')];
  await ada.post(`${review.session(study)}/complete`, review.body({ randomised: false }));
  await bob.post(`${review.session(study)}/save`, review.body({ randomised: true }));
  for (const [person, path] of [[ada, `/studies/${study}`], [ada, '/studies?limit=500']] as const) {
    const reply = await person.get(review.path + path);
    assert.ok(!reply.text.includes(bob.id), 'the other is nowhere in it');
    const { forms } = path.includes(study) ? reply.json : reply.json.items.find((one: any) => one.id === study);
    assert.deepEqual([forms[0].places, forms[0].completed, forms[0].savedIncomplete, forms[0].members], [2, 1, 1, undefined]);
    assert.deepEqual([forms[0].own.reviewerId, forms[0].own.state], [ada.id, 'completed']);
  }
  const observer = await review.member('observer');
  const blind = (await observer.get(`${review.path}/studies/${study}`)).json.forms[0];
  assert.deepEqual([blind.own, blind.members], [null, undefined]);
  for (const person of [review.admin, await review.member('reconciler')]) {
    const { forms } = (await person.get(`${review.path}/studies/${study}`)).json;
    assert.deepEqual(forms[0].members.map((one: any) => one.reviewerId).sort(), [ada.id, bob.id].sort());
  }
  assert.equal((await bob.get(review.session(study))).json.answers[0].value, true, 'a session is the caller\'s own');
});

test('one reviewer\'s version is not another\'s to read', async () => {
  const [ada, bob] = [await review.member('reviewer'), await review.member('reviewer')];
  const { json } = await ada.post(`${review.session(review.studies[3])}/save`, review.body({ participants: 1 }));
  await bob.post(`${review.session(review.studies[3])}/save`, review.body({ participants: 2 }));
  await bob.refused('NotFound', 'GET', `${review.session(review.studies[3])}/versions/${json.versionId}`);
});
