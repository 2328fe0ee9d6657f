// Who may do what, and what is shown to whom.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Caller, newKey, type Schemas } from './support/caller.js';
import { exampleOf, operations } from './support/contract.js';
import { Daemon } from './support/daemon.js';
import { Review, type Ids } from './support/review.js';
import { Tab } from './support/tab.js';

let daemon: Daemon, review: Review, ids: Ids;
before(async () => {
  daemon = await Daemon.start();
  review = await Review.ready(daemon, 5);
  ({ ids } = await review.worked(await review.member('reviewer')));
});
after(() => daemon.done());

const commands = operations.filter(({ path }) => path.startsWith('/v1/'));

test('without a token every operation is Unauthenticated, and so is one with a token that is none', async () => {
  const nobody = new Caller(daemon);
  for (const { method, path, operation } of commands)
    for (const token of [null, 'none', `${nobody.token.slice(0, -8)}AAAAAAAA`])
      await nobody.refused('Unauthenticated', method.toUpperCase(), review.filled(path, ids), { ...exampleOf(operation), token });
});

test('that there is no token is seen before anything else of the request', async () => {
  for (const { method, path, operation } of commands.filter(one => one.operation.requestBody !== undefined)) {
    const at = review.filled(path, ids), headers = { 'Content-Type': 'text/plain' };
    await review.admin.refused('Unauthenticated', method.toUpperCase(), at, { token: null, text: 'x', headers, key: null });
    assert.equal((await review.admin.refused('UnsupportedMediaType', method.toUpperCase(), at, { text: 'x', headers, key: null })).status, 415, operation.operationId);
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
    if (['createProject', 'listProjects'].includes(operation.operationId)) continue; // of no project
    const theirs = await stranger.refused('NotFound', method.toUpperCase(), review.filled(path, ids), exampleOf(operation));
    const none = await stranger.refused('NotFound', method.toUpperCase(), review.filled(path, { ...ids, project: newKey() }), exampleOf(operation));
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

type Role = Schemas['Role'];

// Who may call what, written apart from the service. Every operation there is has to be in it.
const rights: [Role[], string[]][] = [
  [['admin', 'reviewer', 'reconciler', 'queryReviewer', 'observer'], [
    'createProject', 'listProjects', 'getProject', 'listForms', 'getForm', 'getFormVersion', 'listStages', 'getStage', 'listStudies', 'getStudy', 'getStudyHistory',
    'getSession', 'listSessionVersions', 'getSessionVersion', 'getSessionChanges', 'getSessionById', 'listSessionVersionsById', 'getSessionVersionById', 'getSessionChangesById',
  ]],
  [['reviewer'], [
    'save', 'complete', 'withdraw', 'fix', 'upgrade', 'recordExposures', 'getDraft', 'putDraft', 'patchDraft', 'discardDraft', 'renewDraftLease', 'takeOverDraft',
    'listDraftCopies', 'getDraftCopy', 'adoptDraftCopy', 'discardDraftCopy',
  ]],
  [['admin', 'reconciler'], ['listMembers', 'exportAnswersCsv', 'exportAnswersNdjson', 'exportSeriesCsv', 'exportManifest']],
  [['admin'], [
    'setMember', 'createForm', 'publishForm', 'createStage', 'addStudies', 'correctStudy', 'createImport', 'undoImport', 'listOperations', 'getOperation', 'listOperationRows',
    'getDraftLease', 'releaseDraft', 'verifyProject',
  ]],
];
const mayCall = new Map(rights.flatMap(([roles, names]) => names.map(name => [name, roles] as const)));

for (const role of ['admin', 'reviewer', 'reconciler', 'queryReviewer', 'observer'] as const)
  test(`${role}: every operation is allowed or Refused for permission, as the table says`, async () => {
    const person = await review.member(role);
    for (const { method, path, operation } of commands) {
      const { operationId } = operation;
      if (operationId === 'createProject') continue; // by scope: below
      const allowed = mayCall.get(operationId);
      assert.ok(allowed !== undefined, `${operationId} is not in the table`);
      const { problem, text, status } = await person.ask(method.toUpperCase(), review.filled(path, ids), exampleOf(operation));
      const refused = status === 409 && problem.outcome === 'Refused' && problem['reason'] === 'permission';
      assert.equal(refused, !allowed.includes(role), `${operationId}: ${text}`);
    }
  });

test('several roles add up, and nothing more', async () => {
  const both = await review.member('reviewer', 'reconciler');
  assert.equal((await both.post(`${review.session(review.studies[1])}/save`, review.body({}))).status, 200);
  assert.equal((await both.get(`${review.path}/members`)).status, 200);
  assert.equal((await both.refused('Refused', 'POST', `${review.path}/stages`, { body: { name: 'No' } }))['reason'], 'permission');
});

test('who may not write is told so whatever the request brought, and leaves nothing', async () => {
  const observer = await review.member('observer'), tab = new Tab(review, observer, review.studies[2]!);
  assert.equal((await tab.refused('Refused', { participants: 1 }))['reason'], 'permission');
  await review.admin.post(`${review.path}/members`, { investigatorId: observer.id, roles: ['reviewer'] });
  await observer.refused('NotFound', 'GET', tab.at);
  await tab.put({ participants: 1 });
  const other = tab.beside();
  await review.admin.post(`${review.path}/members`, { investigatorId: observer.id, roles: ['observer'] });
  assert.equal((await other.refused('Refused', { participants: 2 }))['reason'], 'permission');
  await review.admin.post(`${review.path}/members`, { investigatorId: observer.id, roles: ['reviewer'] });
  assert.deepEqual([await tab.typed(), await tab.copies()], [{ participants: 1 }, []]);
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
