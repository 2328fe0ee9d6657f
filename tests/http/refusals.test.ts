// What a client can do to be refused, in a project it may work in.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newKey, type Caller, type Schemas } from './support/caller.js';
import { Daemon } from './support/daemon.js';
import { questions, Review } from './support/review.js';
import { Tab } from './support/tab.js';

let daemon: Daemon, review: Review, ada: Caller;
before(async () => {
  daemon = await Daemon.start();
  review = await Review.ready(daemon, 30);
  ada = await review.member('reviewer');
});
after(() => daemon.done());

let next = 0;
/** A study nobody has worked on. */
const fresh = () => review.studies[next++]!;

type ErrorItem = Schemas['ValidationError'];
const codes = (problem: any) => (problem.errors as ErrorItem[]).map(error => [error.pointer, error.code]);

test('a Save from an older version is StaleBase and names both versions', async () => {
  const at = review.session(fresh());
  const first = await ada.post(`${at}/save`, review.body({ randomised: true }));
  await ada.post(`${at}/save`, review.body({ participants: 1 }, { baseVersion: first.json.versionId }));
  const current = (await ada.get(at)).json.versionId;
  const problem = await ada.refused('StaleBase', 'POST', `${at}/save`, { body: review.body({ participants: 2 }, { baseVersion: first.json.versionId }) });
  assert.deepEqual([problem['base'], problem['declared'], problem['current']], ['session', first.json.versionId, current]);
  const none = await ada.refused('StaleBase', 'POST', `${at}/complete`, { body: review.body({ participants: 2 }) });
  assert.deepEqual([none['declared'], none['current']], [null, current]);
  const withdrawal = { stage: review.stage, baseVersion: first.json.versionId, draft: null };
  assert.equal((await ada.refused('StaleBase', 'POST', `${at}/withdraw`, { body: withdrawal }))['current'], current);
});

test('a shared answer another form changed is StaleBase with both values', async () => {
  const at = fresh();
  const other = await review.addForm({ target: 2 });
  const first = await ada.post(`${review.session(at)}/save`, review.body({ participants: 10 }));
  const refused = await ada.refused('StaleBase', 'POST', `${review.session(at, other.form)}/save`, { body: { ...review.body({ participants: 11 }), stage: other.stage } });
  assert.equal(refused['base'], 'answers');
  assert.deepEqual(refused['answers'], [{ question: 'participants', declared: { baseRevision: null, value: 11 }, current: { revision: first.json.answers[0].revision, value: 10 } }]);
  const answers = [{ question: 'participants', value: 11, baseRevision: first.json.answers[0].revision }];
  const taken = await ada.post(`${review.session(at, other.form)}/save`, { ...review.body({}), stage: other.stage, answers });
  assert.equal(taken.status, 200, 'with the current revision it is taken');
});

test('a draft that is not the stored one is StaleBase', async () => {
  const at = review.session(fresh());
  const draft = { etag: 7, holder: newKey(), writeSeq: 1 };
  assert.equal((await ada.refused('StaleBase', 'POST', `${at}/save`, { body: review.body({ participants: 1 }, { draft }) }))['base'], 'draft');
});

test('a form that moved since the publisher looked is StaleBase with both versions', async () => {
  const form = (await review.admin.post(`${review.path}/forms`, { name: 'Moved', capacity: { target: 1 }, questions })).json.id;
  await review.admin.post(`${review.path}/stages`, { name: 'Moves it', formId: form });
  const problem = await review.admin.refused('StaleBase', 'POST', `${review.path}/forms/${form}/publications`, { body: { baseVersion: 1 } });
  assert.deepEqual([problem['base'], problem['declared'], problem['current']], ['form', 1, 2]);
});

test('a key used for another request is CommandDigestMismatch, in the same project only', async () => {
  const key = newKey(), at = review.session(fresh());
  await ada.post(`${at}/save`, review.body({ participants: 1 }), key);
  await ada.refused('CommandDigestMismatch', 'POST', `${at}/save`, { body: review.body({ participants: 2 }), key });
  await ada.refused('CommandDigestMismatch', 'POST', `${at}/complete`, { body: review.body({ participants: 1 }), key });
  await ada.refused('CommandDigestMismatch', 'POST', `${review.session(fresh())}/save`, { body: review.body({ participants: 1 }), key });
  const bob = await review.member('reviewer');
  await bob.refused('CommandDigestMismatch', 'POST', `${at}/save`, { body: review.body({ participants: 1 }), key });
  assert.equal((await review.admin.post('/v1/projects', { name: 'Elsewhere' }, key)).status, 200);
});

test('with as many completed reviewers as wanted the next is told EnoughReviewers', async () => {
  const at = review.session(fresh());
  for (const person of [await review.member('reviewer'), await review.member('reviewer')])
    assert.equal((await person.post(`${at}/complete`, review.body({ randomised: false }))).status, 200);
  await ada.refused('EnoughReviewers', 'POST', `${at}/save`, { body: review.body({ randomised: false }) });
});

test('with every place taken the next is told AtCapacity, and comes in when one is freed', async () => {
  const at = review.session(fresh());
  const others = [await review.member('reviewer'), await review.member('reviewer')];
  const saved = await Promise.all(others.map(person => person.post(`${at}/save`, review.body({ participants: 1 }))));
  await ada.refused('AtCapacity', 'POST', `${at}/save`, { body: review.body({ participants: 1 }) });
  await others[0]!.post(`${at}/withdraw`, { stage: review.stage, baseVersion: saved[0]!.json.versionId, draft: null });
  assert.equal((await ada.post(`${at}/save`, review.body({ participants: 1 }))).status, 200);
});

test('Complete as a first version is admitted as Save is', async () => {
  const [full, taken] = [review.session(fresh()), review.session(fresh())];
  const [bob, eve] = [await review.member('reviewer'), await review.member('reviewer')];
  const body = review.body({ randomised: false });
  for (const person of [bob, eve]) assert.equal((await person.post(`${full}/complete`, body)).status, 200);
  await ada.refused('EnoughReviewers', 'POST', `${full}/complete`, { body });
  for (const person of [bob, eve]) assert.equal((await person.post(`${taken}/save`, body)).status, 200);
  await ada.refused('AtCapacity', 'POST', `${taken}/complete`, { body });
});

test('an autosave takes no place, and its draft is kept when there is none left for the Save', async () => {
  const study = fresh(), tab = new Tab(review, ada, study), at = review.session(study);
  await tab.put({ participants: 7 });
  for (const person of [await review.member('reviewer'), await review.member('reviewer')]) assert.equal((await person.post(`${at}/save`, review.body({}))).status, 200);
  for (const verb of ['save', 'complete']) await ada.refused('AtCapacity', 'POST', `${at}/${verb}`, { body: review.body({ randomised: false, participants: 7 }, { draft: tab.named }) });
  await tab.patch({ participants: 8 });
  assert.deepEqual([await tab.typed(), await tab.copies()], [{ participants: 8 }, []]);
});

test('Complete, Withdraw and Upgrade are told who holds the draft, as Save is', async () => {
  const study = fresh(), tab = new Tab(review, ada, study), at = review.session(study);
  const saved = (await ada.post(`${at}/save`, review.body({ randomised: false }))).json;
  [tab.base, tab.etag] = [saved.versionId, saved.draftEtag];
  await tab.put({ participants: 7 });
  const base = { stage: review.stage, baseVersion: saved.versionId, draft: null };
  for (const [verb, body] of [['complete', review.body({}, base)], ['withdraw', base], ['upgrade', { ...base, formVersion: 1 }]] as const) {
    const problem = await ada.refused('DraftLeaseHeld', 'POST', `${at}/${verb}`, { body });
    assert.deepEqual([problem['holder'], problem['etag'], problem['writeSeq'], problem['copyId']], [tab.holder, tab.etag, 1, null], verb);
  }
});

test('a cap below the target is not taken', async () => {
  const problem = await review.admin.refused('ValidationFailed', 'POST', `${review.path}/forms`, { body: { name: 'Narrow', capacity: { target: 3, cap: 2 }, questions } });
  assert.deepEqual(codes(problem), [['/capacity/cap', 'outOfRange']]);
});

test('what cannot be an answer is refused by Save, each place by its pointer', async () => {
  const wrong: [string, Schemas['AnswerValue'], string, string][] = [
    ['nowhere', 'x', '/question', 'unknownQuestion'],
    ['randomised', 'yes', '/value', 'wrongType'],
    ['participants', '12', '/value', 'wrongType'],
    ['blinding', 'triple', '/value', 'unknownOption'],
    ['setting', ['home', 'home'], '/value/1', 'repeatedOption'],
    ['setting', ['moon'], '/value/0', 'unknownOption'],
    ['setting', [], '/value', 'emptyAnswer'],
    ['dose', '1.5e3', '/value', 'notADecimal'],
    ['begun', '2019-02-29', '/value', 'notADate'],
    ['remarks', 'x'.repeat(51), '/value', 'tooLong'],
    ['remarks', '', '/value', 'emptyAnswer'],
  ];
  const at = review.session(fresh());
  for (const [question, value, pointer, code] of wrong) {
    const problem = await ada.refused('ValidationFailed', 'POST', `${at}/save`, { body: review.body({ [question]: value }) });
    assert.deepEqual(codes(problem), [[`/answers/0${pointer}`, code]], question);
    assert.equal((problem as any).errors[0].question, question);
  }
});

test('all errors come at once, and the count is whole', async () => {
  const body = review.body({ nowhere: 1, dose: 'much', begun: 'then' });
  const problem = await ada.refused('ValidationFailed', 'POST', `${review.session(fresh())}/save`, { body });
  assert.deepEqual(codes(problem), [['/answers/0/question', 'unknownQuestion'], ['/answers/1/value', 'notADecimal'], ['/answers/2/value', 'notADate']]);
  assert.equal(problem['errorCount'], 3);
});

test('of too many errors a thousand are told', async () => {
  const answers = Array.from({ length: 1500 }, (_, i) => ({ question: `nowhere-${i}`, value: 1, baseRevision: null }));
  const problem = await ada.refused('ValidationFailed', 'POST', `${review.session(fresh())}/save`, { body: { ...review.body({}), answers } });
  assert.equal(problem['errorCount'], 1500);
  assert.equal((problem as any).errors.length, 1000);
});

test('what is incomplete is refused by Complete with question, rule, expected and found', async () => {
  const at = review.session(fresh());
  const missing = await ada.refused('ValidationFailed', 'POST', `${at}/complete`, { body: review.body({ participants: 0 }) });
  assert.deepEqual((missing as any).errors.map((error: ErrorItem) => [error.question, error.code, error.rule, error.expected, error.found]), [
    ['randomised', 'required', 'required', 'boolean', null],
    ['participants', 'belowMin', 'min', '1', '0'],
  ]);
  const above = await ada.refused('ValidationFailed', 'POST', `${at}/complete`, { body: review.body({ randomised: true, participants: 100001 }) });
  assert.deepEqual(codes(above), [['/answers/1/value', 'aboveMax']]);
  const hanging = await ada.refused('ValidationFailed', 'POST', `${at}/complete`, { body: review.body({ randomised: false, blinding: 'single' }) });
  assert.deepEqual(codes(hanging), [['/answers/1', 'notApplicable']]);
});

test('Save takes what Complete would not', async () => {
  const at = review.session(fresh());
  assert.equal((await ada.post(`${at}/save`, review.body({ participants: 0, blinding: 'single' }))).status, 200);
});

test('one place changed twice is refused', async () => {
  const twice = [{ question: 'participants', value: 1, baseRevision: null }, { question: 'participants', value: 2, baseRevision: null }];
  const at = review.session(fresh());
  assert.deepEqual(codes(await ada.refused('ValidationFailed', 'POST', `${at}/save`, { body: { ...review.body({}), answers: twice } })), [['/answers', 'repeatedPlace']]);
  const both = review.body({ participants: 1 }, { withdrawn: [{ question: 'participants' }] });
  assert.deepEqual(codes(await ada.refused('ValidationFailed', 'POST', `${at}/save`, { body: both })), [['/answers', 'repeatedPlace']]);
});

test('a form version that was never published, and an exposure that is none, are refused', async () => {
  const at = review.session(fresh());
  assert.deepEqual(codes(await ada.refused('ValidationFailed', 'POST', `${at}/save`, { body: review.body({}, { formVersion: 2 }) })), [['/formVersion', 'unknownFormVersion']]);
  assert.deepEqual(codes(await ada.refused('ValidationFailed', 'POST', `${at}/save`, { body: review.body({}, { exposures: [newKey()] }) })), [['/exposures/0', 'unknownRevision']]);
});

test('withdrawing twice is refused', async () => {
  const at = review.session(fresh());
  const saved = await ada.post(`${at}/save`, review.body({}));
  const gone = await ada.post(`${at}/withdraw`, { stage: review.stage, baseVersion: saved.json.versionId, draft: null });
  const body = { stage: review.stage, baseVersion: gone.json.versionId, draft: null };
  assert.deepEqual(codes(await ada.refused('ValidationFailed', 'POST', `${at}/withdraw`, { body })), [['/baseVersion', 'alreadyWithdrawn']]);
});

test('every fault of a definition comes at once, and the form stays unpublished', async () => {
  const asked: Schemas['QuestionInput'][] = [
    { id: 'a b', label: 'Spaces', kind: 'text' },
    { id: 'twice', label: 'One', kind: 'text' },
    { id: 'twice', label: 'Two', kind: 'text' },
    { id: 'blank', label: ' ', kind: 'text' },
    { id: 'bare', label: 'No options', kind: 'choice' },
    { id: 'optioned', label: 'Options', kind: 'text', options: [{ id: 'x', label: 'X' }] },
    { id: 'bounds', label: 'Bounds', kind: 'integer', min: '9', max: '1' },
    { id: 'orphan', label: 'Orphan', kind: 'text', parent: { questionId: 'nowhere' } },
    { id: 'loop-a', label: 'A', kind: 'text', parent: { questionId: 'loop-b' } },
    { id: 'loop-b', label: 'B', kind: 'text', parent: { questionId: 'loop-a' } },
    { id: 'points', label: 'Points', kind: 'reference' },
  ];
  const form = (await review.admin.post(`${review.path}/forms`, { name: 'Faulty', capacity: { target: 1 }, questions: asked })).json.id;
  const problem = await review.admin.refused('ValidationFailed', 'POST', `${review.path}/forms/${form}/publications`, { body: { baseVersion: 1 } });
  const found = new Set((problem as any).errors.map((error: ErrorItem) => error.code));
  for (const code of ['malformedId', 'duplicateId', 'blankLabel', 'optionsMissing', 'optionsNotAllowed', 'boundsReversed', 'unknownParent', 'cycle', 'targetMissing'])
    assert.ok(found.has(code), `${code} in ${[...found].join()}`);
  assert.equal((await review.admin.get(`${review.path}/forms/${form}`)).json.publishedVersion, null);
});

test('a form without questions is not published', async () => {
  const form = (await review.admin.post(`${review.path}/forms`, { name: 'Empty', capacity: { target: 1 }, questions: [] })).json.id;
  assert.deepEqual(codes(await review.admin.refused('ValidationFailed', 'POST', `${review.path}/forms/${form}/publications`, { body: { baseVersion: 1 } })), [['/questions', 'empty']]);
});

test('what this version cannot do yet is Refused notYetAvailable', async () => {
  const again = await review.admin.refused('Refused', 'POST', `${review.path}/forms/${review.form}/publications`, { body: { baseVersion: 3 } });
  assert.equal(again['reason'], 'notYetAvailable');
  const binding = await review.admin.refused('Refused', 'POST', `${review.path}/stages`, { body: { name: 'Late', formId: review.form } });
  assert.equal(binding['reason'], 'notYetAvailable');
});

test('the 33rd stage of a form is SizeLimitExceeded', async () => {
  const form = (await review.admin.post(`${review.path}/forms`, { name: 'Popular', capacity: { target: 1 }, questions })).json.id;
  for (let i = 0; i < 32; i++) assert.equal((await review.admin.post(`${review.path}/stages`, { name: `Stage ${i}`, formId: form })).status, 200);
  await review.admin.refused('SizeLimitExceeded', 'POST', `${review.path}/stages`, { body: { name: 'Stage 32', formId: form } });
});

test('names must not be blank, and what is named must be there', async () => {
  const blank = [['/name', 'blank']];
  assert.deepEqual(codes(await review.admin.refused('ValidationFailed', 'POST', '/v1/projects', { body: { name: ' ' } })), blank);
  assert.deepEqual(codes(await review.admin.refused('ValidationFailed', 'POST', `${review.path}/forms`, { body: { name: '', capacity: { target: 1 }, questions } })), blank);
  assert.deepEqual(codes(await review.admin.refused('ValidationFailed', 'POST', `${review.path}/stages`, { body: { name: '\t' } })), blank);
  assert.deepEqual(codes(await review.admin.refused('ValidationFailed', 'POST', `${review.path}/stages`, { body: { name: 'S', formId: newKey() } })), [['/formId', 'unknownForm']]);
  assert.deepEqual(codes(await review.admin.refused('ValidationFailed', 'POST', `${review.path}/studies/batch`, { body: { studies: [] } })), [['/studies', 'empty']]);
});

test('a project keeps an administrator, and roles are those there are', async () => {
  const last = { investigatorId: review.admin.id, roles: ['reviewer'] };
  assert.deepEqual(codes(await review.admin.refused('ValidationFailed', 'POST', `${review.path}/members`, { body: last })), [['/roles', 'lastAdmin']]);
  const unknown = { investigatorId: newKey(), roles: ['reviewer', 'king'] };
  assert.deepEqual(codes(await review.admin.refused('ValidationFailed', 'POST', `${review.path}/members`, { body: unknown })), [['/roles/1', 'unknownRole']]);
});

test('a batch with a row that is refused adds nothing unless told to skip it', async () => {
  const studies = [{ title: 'Good' }, {}, { title: 'Bad', doi: 'not a doi' }];
  const batch = `${review.path}/studies/batch`;
  const problem = await review.admin.refused('ValidationFailed', 'POST', batch, { body: { studies } });
  assert.deepEqual(codes(problem), [['/studies/1', 'neitherTitleNorIdentifier'], ['/studies/2/doi', 'malformedIdentifier']]);
  const { json } = await review.admin.post(batch, { studies, skipRefused: true });
  assert.deepEqual([json.added, json.matched, json.refused], [1, 0, 2]);
  assert.deepEqual(json.rows.map((row: Schemas['RowReceipt']) => [row.index, row.result, row.code]),
    [[0, 'added', undefined], [1, 'refused', 'neitherTitleNorIdentifier'], [2, 'refused', 'malformedIdentifier']]);
});

test('rows are matched by any identifier, within the batch and across batches', async () => {
  const batch = `${review.path}/studies/batch`;
  const studies = [{ doi: '10.1000/a' }, { doi: 'https://DOI.org/10.1000/A', pmid: '77' }, { pmid: '88' }];
  const first = (await review.admin.post(batch, { studies })).json as Schemas['BatchReceipt'];
  assert.deepEqual(first.rows.map(row => row.result), ['added', 'matched', 'added']);
  assert.equal(first.rows[1]!.studyId, first.rows[0]!.studyId);
  const second = (await review.admin.post(batch, { studies: [{ doi: 'doi:10.1000/a' }, { doi: '10.1000/a', pmid: 'PMID: 88' }], skipRefused: true })).json as Schemas['BatchReceipt'];
  assert.deepEqual(second.rows.map(row => [row.result, row.studyId ?? row.code]), [['matched', first.rows[0]!.studyId], ['refused', 'matchesTwoStudies']]);
});
