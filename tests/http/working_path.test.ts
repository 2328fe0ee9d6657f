import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newKey, ok, type Schemas } from './support/caller.js';
import { Daemon } from './support/daemon.js';
import { questions, Review } from './support/review.js';

let daemon: Daemon;
before(async () => { daemon = await Daemon.start(); });
after(() => daemon.done());

test('a review runs from its project to a completed session, by the generated client alone', async () => {
  const review = await Review.create(daemon, 'Aspirin after stroke');
  const { admin } = review;
  const path = { project: review.project };

  const project = ok(await admin.api.GET('/v1/projects/{project}', { params: { path } }));
  assert.deepEqual([project.name, project.roles, project.version], ['Aspirin after stroke', ['admin'], 1]);

  const ada = await review.member('reviewer');
  const members = ok(await admin.api.GET('/v1/projects/{project}/members', { params: { path } }));
  assert.deepEqual(members.items.map(one => one.investigatorId).sort(), [admin.id, ada.id].sort());

  const { form, stage, version } = await review.addForm({ target: 2, cap: 3 });
  const published = ok(await ada.api.GET('/v1/projects/{project}/forms/{form}/versions/{version}', { params: { path: { ...path, form, version } } }));
  assert.equal(published.formVersion, 1);
  assert.deepEqual(published.questions, questions);
  const head = ok(await ada.api.GET('/v1/projects/{project}/forms/{form}', { params: { path: { ...path, form } } }));
  assert.deepEqual([head.publishedVersion, head.publishedVersionId, head.stages, head.capacity], [1, version, [stage], { target: 2, cap: 3 }]);
  const shown = ok(await ada.api.GET('/v1/projects/{project}/stages/{stage}', { params: { path: { ...path, stage } } }));
  assert.deepEqual([shown.status, shown.formId, shown.sessionTimeoutMinutes], ['Active', form, 120]);

  await review.addStudies([{ title: 'Aspirin in acute stroke', doi: 'https://doi.org/10.1000/182', year: 2019, customId: 'S-1' }]);
  const study = review.studies[0]!;
  const at = { ...path, study, form };

  const saved = ok(await ada.api.POST('/v1/projects/{project}/studies/{study}/forms/{form}/session/save', {
    params: { path: at, header: review.header() }, body: review.body({ randomised: true, dose: '1.50' }),
  }));
  assert.deepEqual([saved.state, saved.versionSeq, saved.answerCount, saved.formVersion], ['savedIncomplete', 1, 2, 1]);

  const completed = ok(await ada.api.POST('/v1/projects/{project}/studies/{study}/forms/{form}/session/complete', {
    params: { path: at, header: review.header() },
    body: review.body({ blinding: 'double', participants: 120, begun: '2019-02-28', setting: ['home', 'clinic'], remarks: 'Überblick' }, { baseVersion: saved.versionId }),
  }));
  assert.deepEqual([completed.state, completed.versionSeq, completed.answerCount], ['completed', 2, 7]);

  const session = ok(await ada.api.GET('/v1/projects/{project}/studies/{study}/forms/{form}/session', { params: { path: at } }));
  assert.equal(session.versionId, completed.versionId);
  assert.deepEqual(Object.fromEntries(session.answers.map(answer => [answer.question, answer.value])), {
    randomised: true, dose: '1.50', blinding: 'double', participants: 120, begun: '2019-02-28', setting: ['home', 'clinic'], remarks: 'Überblick',
  });

  const seen = ok(await ada.api.GET('/v1/projects/{project}/studies/{study}', { params: { path: { ...path, study } } }));
  assert.deepEqual([seen.doi, seen.customId, seen.year, seen.version], ['10.1000/182', 'S-1', 2019, 3]);
  assert.deepEqual([seen.forms[0]!.completed, seen.forms[0]!.places, seen.forms[0]!.ready], [1, 1, false]);
  assert.equal(seen.forms[0]!.own!.standing, 'qualifying');
  assert.ok(BigInt(seen.stamp) > BigInt(saved.stamp), 'stamps order what was written');

  const withdrawn = ok(await ada.api.POST('/v1/projects/{project}/studies/{study}/forms/{form}/session/withdraw', {
    params: { path: at, header: review.header() }, body: { stage, baseVersion: completed.versionId, draft: null },
  }));
  assert.deepEqual([withdrawn.state, withdrawn.versionSeq], ['withdrawn', 3]);
  const freed = ok(await ada.api.GET('/v1/projects/{project}/studies/{study}', { params: { path: { ...path, study } } }));
  assert.deepEqual([freed.forms[0]!.places, freed.forms[0]!.completed], [0, 0]);

  const history = ok(await ada.api.GET('/v1/projects/{project}/studies/{study}/forms/{form}/session/versions', { params: { path: at } }));
  assert.deepEqual(history.items.map(one => [one.kind, one.versionSeq, one.versionId]),
    [['Save', 1, saved.versionId], ['Complete', 2, completed.versionId], ['Withdraw', 3, withdrawn.versionId]]);
  const first = ok(await ada.api.GET('/v1/projects/{project}/studies/{study}/forms/{form}/session/versions/{version}', { params: { path: { ...at, version: saved.versionId } } }));
  assert.deepEqual(first.answers.map(answer => answer.question).sort(), ['dose', 'randomised']);
  assert.equal(first.baseVersionId, null);
});

test('a command sent again gives the first answer byte for byte, and takes effect once', async () => {
  const review = await Review.ready(daemon);
  const ada = await review.member('reviewer');
  const key = newKey();
  const body = review.body({ randomised: false });
  const first = await ada.post(`${review.session()}/save`, body, key);
  assert.equal(first.status, 200);
  assert.equal(first.headers.get('idempotency-replayed'), null);
  const again = await ada.post(`${review.session()}/save`, body, key);
  assert.equal(again.headers.get('idempotency-replayed'), 'true');
  assert.equal(again.text, first.text);
  const quoted = await ada.ask('POST', `${review.session()}/save`, { key: `"${key}"`, text: JSON.stringify(body, null, 4) });
  assert.equal(quoted.text, first.text, 'however the key is quoted and the JSON is spelt');
  assert.equal((await ada.get(`${review.session()}/versions`)).json.items.length, 1);
});

test('a replay wins over a base that is stale by now', async () => {
  const review = await Review.ready(daemon);
  const ada = await review.member('reviewer');
  const key = newKey();
  const first = await ada.post(`${review.session()}/save`, review.body({ randomised: false }), key);
  const second = await ada.post(`${review.session()}/save`, review.body({ participants: 5 }, { baseVersion: first.json.versionId }));
  assert.equal(second.json.versionSeq, 2);
  assert.equal((await ada.post(`${review.session()}/save`, review.body({ randomised: false }), key)).text, first.text);
});

test('fifty identical commands at once give one effect and fifty equal receipts', async () => {
  const review = await Review.ready(daemon);
  const ada = await review.member('reviewer');
  const key = newKey();
  const answers = await Promise.all(Array.from({ length: 50 }, () => ada.post(`${review.session()}/complete`, review.body({ randomised: false }), key)));
  assert.deepEqual([...new Set(answers.map(answer => answer.text))], [answers[0]!.text]);
  assert.equal(answers[0]!.status, 200);
  assert.equal((await ada.get(`${review.session()}/versions`)).json.items.length, 1);
});

test('making a project twice with one key makes one project', async () => {
  const { admin } = await Review.create(daemon);
  const key = newKey();
  const first = await admin.post('/v1/projects', { name: 'Once' }, key);
  const again = await admin.post('/v1/projects', { name: 'Once' }, key);
  assert.equal(again.text, first.text);
  assert.equal(again.headers.get('idempotency-replayed'), 'true');
});

test('an answer taken back is gone from the next version and stays in the one before', async () => {
  const review = await Review.ready(daemon);
  const ada = await review.member('reviewer');
  const first = await ada.post(`${review.session()}/save`, review.body({ randomised: true, participants: 7 }));
  const second = await ada.post(`${review.session()}/save`, review.body({}, { baseVersion: first.json.versionId, withdrawn: [{ question: 'participants' }] }));
  assert.equal(second.json.answerCount, 1);
  const questionsOf = async (version: string) => {
    const { json } = await ada.get(`${review.session()}/versions/${version}`);
    return (json as Schemas['SessionVersionView']).answers.map(answer => answer.question).sort();
  };
  assert.deepEqual(await questionsOf(first.json.versionId), ['participants', 'randomised']);
  assert.deepEqual(await questionsOf(second.json.versionId), ['randomised']);
});

test('after a withdrawal a Save goes on from the answers that were there', async () => {
  const review = await Review.ready(daemon);
  const ada = await review.member('reviewer');
  const first = await ada.post(`${review.session()}/save`, review.body({ randomised: true }));
  const gone = await ada.post(`${review.session()}/withdraw`, { stage: review.stage, baseVersion: first.json.versionId, draft: null });
  const back = await ada.post(`${review.session()}/save`, review.body({ participants: 3 }, { baseVersion: gone.json.versionId }));
  assert.deepEqual([back.json.state, back.json.answerCount, back.json.versionSeq], ['savedIncomplete', 2, 3]);
});
