// The client against the real daemon.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { memoryStore, type Copy, type Draft, type SaveResult } from '#client';
import { ok } from '../http/support/caller.js';
import { Daemon } from '../http/support/daemon.js';
import { Review } from '../http/support/review.js';
import { clientOf, Line, openDraft, until } from './support/work.js';

let daemon: Daemon;
before(async () => { daemon = await Daemon.start(); });
after(() => daemon.done());

const dose = { question: 'dose' }, blinding = { question: 'blinding' }, remarks = { question: 'remarks' };

async function setUp(studies = 1) {
  const review = await Review.ready(daemon, studies);
  const ada = await review.member('reviewer');
  return { review, ada, line: new Line(daemon) };
}

function isDone(result: SaveResult): asserts result is Extract<SaveResult, { outcome: 'Done' }> {
  assert.equal(result.outcome, 'Done', JSON.stringify(result));
}

async function copiesOf(draft: Draft): Promise<Copy[]> {
  const listed = await draft.copies.list();
  assert.equal(listed.outcome, 'Done');
  return listed.outcome === 'Done' ? listed.value : [];
}

test('a day of two tabs: typed, raced, taken over, a late edit kept, adopted, saved, read again', async () => {
  const { review, ada, line } = await setUp();
  const a = await openDraft(clientOf(ada, line), review), b = await openDraft(clientOf(ada, line), review);
  a.answer(dose, '1.50');
  a.answer({ question: 'randomised' }, true, 'page 3');
  await a.flush();
  assert.equal(a.state.status, 'saved');
  b.answer(dose, '2');
  await b.flush();
  assert.deepEqual([b.state.status, b.state.problem?.outcome], ['readOnly', 'DraftLeaseHeld']);
  assert.equal((await b.takeOver()).outcome, 'Done');
  assert.deepEqual(b.allShown().map(shown => [shown.question, shown.value]), [['dose', '1.50'], ['randomised', true]]);
  b.answer(remarks, 'of the second tab');
  await b.flush();
  a.answer(remarks, 'too late');
  await a.flush();
  assert.equal(a.state.status, 'readOnly');
  const copies = await copiesOf(b);
  assert.deepEqual(copies.map(copy => [copy.where, copy.reason, copy.places]), [['service', 'leaseHeld', 1], ['service', 'leaseHeld', 1]]);
  const late = copies[1]!;
  const read = await b.copies.read(late);
  assert.deepEqual(read.outcome === 'Done' && read.value?.answers, [{ question: 'remarks', value: 'too late', baseRevision: null }]);
  assert.equal((await b.copies.adopt(late)).outcome, 'Done');
  assert.equal(b.shown(remarks)?.value, 'too late');
  for (const copy of await copiesOf(b)) assert.equal((await b.copies.discard(copy)).outcome, 'Done');
  assert.deepEqual(await copiesOf(b), []);
  isDone(await b.complete());
  assert.deepEqual([b.state.status, b.state.sessionState], ['idle', 'completed']);
  const again = await openDraft(clientOf(ada, line), review);
  assert.deepEqual(again.allShown().map(shown => [shown.question, shown.value, shown.notes]).sort(),
    [['dose', '1.50', null], ['randomised', true, 'page 3'], ['remarks', 'too late', null]]);
  for (const draft of [a, b, again]) draft.close();
});

test('every kind of call may be lost or unanswered once: each takes effect once', async () => {
  for (const loss of ['lost', 'unanswered'] as const) {
    const { review, ada, line } = await setUp();
    const draft = await openDraft(clientOf(ada, line), review);
    for (const [method, end, value] of [['PUT', '/draft', '1'], ['PATCH', '/draft', '2'], ['POST', '/save', '3']] as const) {
      line.once(loss, (of, path) => of === method && path.endsWith(end));
      draft.answer(dose, value);
      if (method === 'POST') isDone(await draft.save());
      else await draft.flush();
      await until(draft, method === 'POST' ? 'idle' : 'saved');
    }
    const versions = await ada.get(`${review.session()}/versions`);
    assert.deepEqual(versions.json.items.map((version: { kind: string }) => version.kind), ['Save']);
    draft.answer(dose, '4');
    await draft.flush();
    const second = await openDraft(clientOf(ada, line), review);
    line.once(loss, (of, path) => of === 'POST' && path.endsWith('/takeover'));
    assert.equal((await second.takeOver()).outcome, 'Done');
    line.once(loss, of => of === 'DELETE');
    assert.equal((await second.discard()).outcome, 'Done');
    assert.equal(second.shown(dose)?.value, '3');
    assert.deepEqual(await copiesOf(second), []);
    draft.close();
    second.close();
  }
});

test('a Save whose answer is lost with the page is found out by the next page, under the same id', async () => {
  const { review, ada, line } = await setUp();
  const own = memoryStore(), local = memoryStore();
  const draft = await openDraft(clientOf(ada, line, { own, local }), review);
  draft.answer(dose, '1');
  line.loses = (_, path) => path.endsWith('/save') ? 'unanswered' : undefined;
  const saved = await draft.save({ patienceMs: 0 });
  assert.equal(saved.outcome, 'Unanswered');
  assert.equal(draft.state.status, 'checking');
  draft.answer(remarks, 'typed while nobody knew');
  draft.close();
  line.loses = () => undefined;
  const again = await openDraft(clientOf(ada, line, { own, local }), review);
  assert.deepEqual([again.lateResult?.outcome, again.shown(dose)?.isChanged, again.shown(remarks)?.value], ['Done', false, 'typed while nobody knew']);
  isDone(await again.save());
  const { json } = await ada.get(`${review.session()}/versions`);
  assert.equal(json.items.length, 2);
  again.close();
});

test('kill -9 in the middle of typing: the page goes on when the daemon is back, and nothing is missing', async () => {
  const own = await Daemon.start();
  try {
    const review = await Review.ready(own);
    const ada = await review.member('reviewer'), line = new Line(own);
    const draft = await openDraft(clientOf(ada, line), review);
    draft.answer(dose, '1');
    await draft.flush();
    await own.kill();
    draft.answer(dose, '2');
    draft.answer(remarks, 'typed while it was down');
    await until(draft, 'offline');
    await own.restart();
    draft.wake();
    await until(draft, 'saved');
    isDone(await draft.save());
    const { json } = await ada.get(review.session());
    assert.deepEqual(json.answers.map((answer: { question: string; value: string }) => [answer.question, answer.value]), [['dose', '2'], ['remarks', 'typed while it was down']]);
    draft.close();
  } finally {
    await own.done();
  }
});

test('what Complete refuses stays in the draft, with every error at its place', async () => {
  const { review, ada, line } = await setUp();
  const draft = await openDraft(clientOf(ada, line), review);
  draft.answer({ question: 'participants' }, 0);
  const result = await draft.complete();
  assert.equal(result.outcome, 'ValidationFailed');
  if (result.outcome !== 'ValidationFailed') return;
  assert.deepEqual(result.errors.map(error => error.code).sort(), ['belowMin', 'required']);
  assert.deepEqual([draft.state.status, draft.state.canEdit, draft.shown({ question: 'participants' })?.value], ['saved', true, 0]);
  const { json } = await ada.get(`${review.session()}/draft`);
  assert.equal(json.content.answers.length, 1);
  draft.answer({ question: 'participants' }, 12);
  draft.answer({ question: 'randomised' }, false);
  isDone(await draft.complete());
  draft.close();
});

test('saving form G after form F changed a shared answer shows both values and keeps G\'s draft', async () => {
  const { review, ada, line } = await setUp();
  const other = await review.addForm();
  const f = await openDraft(clientOf(ada, line), review);
  const g = await openDraft(clientOf(ada, line), review, { form: other.form, stage: other.stage });
  f.answer(dose, '1');
  isDone(await f.save());
  g.answer(dose, '2');
  const stale = await g.save();
  assert.deepEqual([stale.outcome, stale.outcome === 'StaleBase' && stale.base], ['StaleBase', 'answers']);
  if (stale.outcome !== 'StaleBase') return;
  const [both] = stale.answers!;
  assert.deepEqual([both!.declared.value, both!.current?.value], ['2', '1']);
  assert.deepEqual([g.state.status, g.shown(dose)?.value], ['saved', '2']);
  g.settle(both!, 'mine');
  isDone(await g.save());
  f.answer(dose, '3');
  const again = await f.save();
  assert.equal(again.outcome, 'StaleBase');
  if (again.outcome !== 'StaleBase') return;
  f.settle(again.answers![0]!, 'theirs');
  isDone(await f.save());
  assert.equal(f.shown(dose)?.value, '2');
  f.answer(dose, '4');
  isDone(await f.save());
  g.answer(remarks, 'typed beside it');
  await g.reload();
  const { saved } = g.shown(dose)!;
  assert.deepEqual([saved?.outdated, saved?.current?.value], [true, '4']);
  g.answer(remarks, 'typed beside it');
  isDone(await g.fix([{ question: 'dose', revision: saved!.current!.revision }]));
  assert.deepEqual([g.shown(dose)?.value, g.shown(dose)?.saved?.outdated, g.shown(remarks)?.value, g.shown(remarks)?.isChanged], ['4', undefined, 'typed beside it', true]);
  isDone(await g.save());
  f.close();
  g.close();
});

test('the ninth copy finds no room at the service and is kept in the browser', async () => {
  const { review, ada, line } = await setUp();
  const holder = await openDraft(clientOf(ada, line), review);
  holder.answer(dose, '1');
  await holder.flush();
  const tabs: Draft[] = [];
  for (let i = 0; i < 9; i++) {
    const tab = await openDraft(clientOf(ada, line), review, { debounceMs: 100_000 });
    assert.equal((await tab.takeOver()).outcome, 'Done');
    tabs.push(tab);
  }
  assert.equal((await holder.takeOver()).outcome, 'Done');
  for (const [i, tab] of tabs.entries()) {
    tab.answer(dose, `1${i}`);
    await tab.flush();
    assert.equal(tab.state.status, 'readOnly');
  }
  const last = tabs.at(-1)!;
  assert.equal((await last.reload()).outcome, 'Done');
  const copies = await copiesOf(last);
  assert.deepEqual([copies.filter(copy => copy.where === 'service').length, copies.filter(copy => copy.where === 'browser').length], [8, 1]);
  for (const tab of [holder, ...tabs]) tab.close();
});

test('a draft of the largest size there is is autosaved and saved', async () => {
  const { review, ada, line } = await setUp();
  const questions = Array.from({ length: 60 }, (_, i) => ({ id: `q${i}`, label: `Question ${i}`, kind: 'text' as const }));
  const { form, stage } = await review.addForm({ target: 1 }, questions);
  const draft = await openDraft(clientOf(ada, line), review, { form, stage });
  for (const { id } of questions.slice(0, 48)) draft.answer({ question: id }, 'ü'.repeat(9_950));
  await draft.flush();
  assert.equal(draft.state.status, 'saved', JSON.stringify(draft.state));
  isDone(await draft.save());
  draft.close();
});

test('what is too large is refused as a draft, stays in the browser, and goes when it is smaller', async () => {
  const { review, ada, line } = await setUp();
  const questions = Array.from({ length: 60 }, (_, i) => ({ id: `q${i}`, label: `Question ${i}`, kind: 'text' as const }));
  const { form, stage } = await review.addForm({ target: 1 }, questions);
  const draft = await openDraft(clientOf(ada, line), review, { form, stage });
  for (const { id } of questions.slice(0, 51)) draft.answer({ question: id }, 'x'.repeat(19_800));
  await draft.flush();
  assert.deepEqual([draft.state.status, draft.state.problem?.outcome, draft.state.isKeptHere], ['refused', 'SizeLimitExceeded', true]);
  const blocked = await draft.save();
  assert.deepEqual([blocked.outcome, blocked.outcome === 'Blocked' && blocked.problem?.outcome], ['Blocked', 'SizeLimitExceeded']);
  for (const { id } of questions.slice(40, 51)) draft.revert({ question: id });
  await draft.retry();
  assert.equal(draft.state.status, 'saved');
  isDone(await draft.save());
  draft.close();
});

test('commands: one id through every retry, the first receipt again, a new id for a new intent', async () => {
  const { review, line } = await setUp();
  const { commands } = clientOf(review.admin, line);
  const ids: string[] = [];
  const add = (title: string) => commands.send('post', '/v1/projects/{project}/studies/batch', { path: { project: review.project }, body: { studies: [{ title }] } },
    { intent: 'add a study', random: () => 0.01, onId: id => ids.push(id) });
  line.once('unanswered', (_, path) => path.endsWith('/batch'));
  const first = await add('One');
  assert.equal(first.outcome, 'Done');
  if (first.outcome !== 'Done') return;
  assert.deepEqual([first.receipt.added, first.replayed, first.commandId === ids[0]], [1, true, true]);
  assert.equal(commands.pending('add a study'), null);
  assert.equal((await add('One')).outcome, 'Done', 'asked for once more it is another study');
  assert.notEqual(ids[0], ids[1]);
  const { json } = await review.admin.get(`${review.path}/studies`);
  assert.equal(json.items.length, 3);
});

test('reads: unchanged is not sent again, lists are walked to the end, a refusal is thrown with its outcome', async () => {
  const { review, ada, line } = await setUp(7);
  const { reads } = clientOf(ada, line);
  const path = { project: review.project, study: review.studies[0]! };
  const first = await reads.get('/v1/projects/{project}/studies/{study}', { path });
  const again = await reads.get('/v1/projects/{project}/studies/{study}', { path });
  assert.deepEqual([first.outcome === 'Done' && first.fresh, again.outcome === 'Done' && again.fresh], [true, false]);
  const ids: string[] = [];
  for await (const study of reads.each('/v1/projects/{project}/studies', { path: { project: review.project }, query: { limit: 3 } })) ids.push(study.id);
  assert.deepEqual(ids.sort(), [...review.studies].sort());
  const stranger = clientOf(review.admin, line).reads;
  await assert.rejects(async () => {
    for await (const _ of stranger.each('/v1/projects/{project}/studies', { path: { project: review.studies[0]! } }));
  }, (error: Error & { result?: { outcome: string } }) => error.name === 'ReadFailed' && error.result?.outcome === 'NotFound');
});

test('an export is streamed, and the same evidence gives the same bytes', async () => {
  const { review, ada, line } = await setUp(3);
  for (const study of review.studies) {
    const draft = await openDraft(clientOf(ada, line), review, { study });
    draft.answer(dose, '1.50');
    draft.answer({ question: 'randomised' }, true);
    isDone(await draft.complete());
    draft.close();
  }
  const { exports } = clientOf(review.admin, new Line(daemon));
  const path = { project: review.project, form: review.form };
  const texts = await Promise.all([1, 2].map(async () => {
    const opened = await exports.open('/v1/projects/{project}/forms/{form}/exports/answers.csv', { path });
    assert.equal(opened.outcome, 'Done');
    return opened.outcome === 'Done' ? new Response(opened.body).text() : '';
  }));
  assert.equal(texts[0], texts[1]);
  assert.equal(texts[0]!.trim().split('\r\n').length, 4);
  const refused = await clientOf(ada, line).exports.open('/v1/projects/{project}/forms/{form}/exports/answers.csv', { path });
  assert.deepEqual([refused.outcome, refused.outcome === 'Refused' && refused.reason], ['Refused', 'permission']);
});

test('a revoked reviewer keeps what they typed, and is told', async () => {
  const { review, ada, line } = await setUp();
  const draft = await openDraft(clientOf(ada, line), review);
  draft.answer(dose, '1');
  await draft.flush();
  ok(await review.admin.api.POST('/v1/projects/{project}/members', {
    params: { path: { project: review.project }, header: review.header() }, body: { investigatorId: ada.id, roles: [] },
  }));
  draft.answer(blinding, 'double');
  await draft.flush();
  assert.deepEqual([draft.state.status, draft.state.problem?.outcome, draft.shown(blinding)?.value, draft.state.isKeptHere], ['refused', 'NotFound', 'double', true]);
  draft.close();
});
