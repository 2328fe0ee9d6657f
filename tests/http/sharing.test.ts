// Two forms that share questions, and who may look at whose work.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ok, type Caller, type Schemas } from './support/caller.js';
import { Daemon } from './support/daemon.js';
import { Review } from './support/review.js';

let daemon: Daemon, review: Review, other: { form: string; stage: string };
before(async () => {
  daemon = await Daemon.start();
  review = await Review.ready(daemon, 8, { target: 5 });
  other = await review.addForm({ target: 5 });
});
after(() => daemon.done());

let used = 0;
const fresh = () => review.studies[used++]!;
const answerTo = (session: { answers: Schemas['AnswerView'][] }, question: string) => session.answers.find(answer => answer.question === question)!;

/** Saves the answers in the review's form, then in the other; then changes the dose in the first. */
async function changeInOne(ada: Caller, study: string) {
  const path = { project: review.project, study };
  const one = { params: { path: { ...path, form: review.form }, header: review.header() } };
  const two = { params: { path: { ...path, form: other.form }, header: review.header() } };
  const save = '/v1/projects/{project}/studies/{study}/forms/{form}/session/save';
  const answers = { dose: '1.5', participants: 10 };
  const first = ok(await ada.api.POST(save, { ...one, body: review.body(answers) }));
  const second = ok(await ada.api.POST(save, { ...two, body: review.body(answers, { stage: other.stage }) }));
  const changes = [{ question: 'dose', value: '2.5', notes: 'p. 4', baseRevision: first.answers[0]!.revision }];
  const changed = ok(await ada.api.POST(save, { params: { ...one.params, header: review.header() }, body: { ...review.body({}), baseVersion: first.versionId, answers: changes } }));
  return { path: { ...path, form: other.form }, second, changed };
}

test('an answer another form changed is outdated, and Fix takes over what it names', async () => {
  const ada = await review.member('reviewer');
  const { path, second, changed } = await changeInOne(ada, fresh());
  const read = async () => ok(await ada.api.GET('/v1/projects/{project}/studies/{study}/forms/{form}/session', { params: { path } }));
  const outdated = await read();
  assert.deepEqual(answerTo(outdated, 'dose'), {
    question: 'dose', value: '1.5', revision: second.answers[0]!.revision, outdated: true,
    current: { revision: changed.answers[0]!.revision, value: '2.5', notes: 'p. 4' },
  });
  assert.equal(answerTo(outdated, 'participants').outdated, undefined);
  const fixed = ok(await ada.api.POST('/v1/projects/{project}/studies/{study}/forms/{form}/session/fix', {
    params: { path, header: review.header() },
    body: { stage: other.stage, baseVersion: outdated.versionId!, draft: null, answers: [{ question: 'dose', revision: answerTo(outdated, 'dose').current!.revision }] },
  }));
  assert.deepEqual([fixed.state, fixed.versionSeq], ['savedIncomplete', 2]);
  assert.deepEqual(answerTo(await read(), 'dose'), { question: 'dose', value: '2.5', notes: 'p. 4', revision: changed.answers[0]!.revision });
  const again = await ada.refused('ValidationFailed', 'POST', `${review.session(path.study, other.form)}/fix`, {
    body: { stage: other.stage, baseVersion: fixed.versionId, draft: null, answers: [{ question: 'dose', revision: changed.answers[0]!.revision }] },
  });
  assert.equal((again as any).errors[0].code, 'notOutdated');
});

test('saving one form after the other changed a shared answer shows both values', async () => {
  const ada = await review.member('reviewer');
  const { path, second, changed } = await changeInOne(ada, fresh());
  const mine = { question: 'dose', value: '9', baseRevision: second.answers[0]!.revision };
  const stale = await ada.refused('StaleBase', 'POST', `${review.session(path.study, other.form)}/save`, {
    body: { ...review.body({}, { stage: other.stage, baseVersion: second.versionId }), answers: [mine] },
  });
  assert.equal(stale['base'], 'answers');
  assert.deepEqual(stale['answers'], [{
    question: 'dose', declared: { baseRevision: mine.baseRevision, value: '9' },
    current: { revision: changed.answers[0]!.revision, value: '2.5', notes: 'p. 4' },
  }]);
});

test('an upgrade to a version nobody published is stale', async () => {
  const ada = await review.member('reviewer');
  const at = review.session(fresh());
  const saved = (await ada.post(`${at}/save`, review.body({ dose: '1' }))).json;
  const body = { stage: review.stage, baseVersion: saved.versionId, draft: null, formVersion: 7 };
  const stale = await ada.refused('StaleBase', 'POST', `${at}/upgrade`, { body });
  assert.deepEqual([stale['base'], stale['declared'], stale['current']], ['formVersion', 7, 1]);
  const same = await ada.refused('ValidationFailed', 'POST', `${at}/upgrade`, { body: { ...body, formVersion: 1 } });
  assert.equal((same as any).errors[0].code, 'alreadyUpgraded');
});

test('what a reviewer was shown makes their versions informed, also when it is told late', async () => {
  const [ada, ben] = [await review.member('reviewer'), await review.member('reviewer')];
  const study = fresh(), at = review.session(study);
  const theirs = (await ben.post(`${at}/save`, review.body({ dose: '1' }))).json;
  const mine = (await ada.post(`${at}/save`, review.body({ dose: '2' }, { exposures: [] }))).json;
  const classes = async () => (await ada.get(`${at}/versions`)).json.items.map((one: Schemas['SessionVersionRow']) => one.exposureClass);
  assert.deepEqual(await classes(), ['independent']);
  const told = ok(await ada.api.POST('/v1/projects/{project}/studies/{study}/forms/{form}/session/exposures', {
    params: { path: { project: review.project, study, form: review.form }, header: review.header() },
    body: { version: mine.versionId, revisions: [theirs.answers[0].revision] },
  }));
  assert.equal(told.recorded, 1);
  assert.deepEqual(await classes(), ['informed']);
});

test('the history leads whoever may see it to every session, version and change', async () => {
  const [ada, rita] = [await review.member('reviewer'), await review.member('reconciler')];
  const study = fresh(), at = review.session(study);
  const saved = (await ada.post(`${at}/save`, review.body({ dose: '1' }))).json;
  const path = { project: review.project };
  const history = ok(await rita.api.GET('/v1/projects/{project}/studies/{study}/history', { params: { path: { ...path, study } } }));
  const entry = history.items[0]!;
  assert.deepEqual([entry.kind, entry.actorId, entry.versionId, entry.changedCount], ['Save', ada.id, saved.versionId, 1]);
  const by = { params: { path: { ...path, session: entry.sessionId } } };
  const session = ok(await rita.api.GET('/v1/projects/{project}/sessions/{session}', by));
  assert.deepEqual([session.reviewerId, session.studyId, session.formId], [ada.id, study, review.form]);
  const versions = ok(await rita.api.GET('/v1/projects/{project}/sessions/{session}/versions', by));
  const of = { params: { path: { ...by.params.path, version: versions.items[0]!.versionId } } };
  const version = ok(await rita.api.GET('/v1/projects/{project}/sessions/{session}/versions/{version}', of));
  assert.deepEqual(version.answers, session.answers);
  const { changes } = ok(await rita.api.GET('/v1/projects/{project}/sessions/{session}/versions/{version}/changes', of));
  assert.deepEqual(changes, [{ question: 'dose', before: null, after: { revision: saved.answers[0].revision, value: '1' } }]);
  const own = ok(await ada.api.GET('/v1/projects/{project}/studies/{study}/forms/{form}/session/versions/{version}/changes', {
    params: { path: { ...path, study, form: review.form, version: saved.versionId } },
  }));
  assert.deepEqual(own.changes, changes);
  const eve = await review.member('reviewer');
  for (const more of ['', '/versions', `/versions/${saved.versionId}`, `/versions/${saved.versionId}/changes`])
    await eve.refused('NotFound', 'GET', `${review.path}/sessions/${entry.sessionId}${more}`);
  assert.deepEqual((await eve.get(`${review.path}/studies/${study}/history`)).json.items, []);
});
