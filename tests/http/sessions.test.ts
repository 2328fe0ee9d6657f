// A session after its first Save: what another form changed, what was shown, what was done and by whom.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newKey, ok, type Caller, type Schemas } from './support/caller.js';
import { Daemon } from './support/daemon.js';
import { Review } from './support/review.js';
import { Tab } from './support/tab.js';

let daemon: Daemon, review: Review, ada: Caller, other: { form: string; stage: string };
before(async () => {
  daemon = await Daemon.start();
  review = await Review.ready(daemon, 30, { target: 5 });
  other = await review.addForm({ target: 5 });
  ada = await review.member('reviewer');
});
after(() => daemon.done());

let used = 0;
const fresh = () => review.studies[used++]!;
type Values = Record<string, Schemas['AnswerValue']>;
const codes = (problem: any) => problem.errors.map((error: Schemas['ValidationError']) => [error.pointer, error.code]);

/** Saves these answers in both forms, and then changes them in the first. What the second form's session is then. */
async function changedElsewhere(study: string, before: Values, now: Values) {
  const one = review.session(study), two = review.session(study, other.form);
  const first = (await ada.post(`${one}/save`, review.body(before))).json as Schemas['SessionReceipt'];
  const second = (await ada.post(`${two}/save`, review.body(before, { stage: other.stage }))).json as Schemas['SessionReceipt'];
  const revisions = Object.fromEntries(first.answers.map(({ question, revision }) => [question, revision]));
  const answers = Object.entries(now).map(([question, value]) => ({ question, value, baseRevision: revisions[question]! }));
  const changed = await ada.post(`${one}/save`, { ...review.body({}, { baseVersion: first.versionId }), answers });
  assert.equal(changed.status, 200, changed.text);
  const current = Object.fromEntries((changed.json as Schemas['SessionReceipt']).answers.map(({ question, revision }) => [question, revision]));
  const fix = (questions: string[], more: Partial<Schemas['FixRequest']> = {}): Schemas['FixRequest'] =>
    ({ stage: other.stage, baseVersion: second.versionId, draft: null, answers: questions.map(question => ({ question, revision: current[question]! })), ...more });
  return { one, two, first, second, changed: changed.json as Schemas['SessionReceipt'], fix };
}

const answersOf = async (at: string) => ((await ada.get(at)).json as Schemas['SessionView']).answers;
const outdated = async (at: string) => (await answersOf(at)).filter(one => one.outdated).map(one => one.question).sort();

test('Fix moves only what it names, once, and a completed session is incomplete after it', async () => {
  const { two, second, fix } = await changedElsewhere(fresh(), { randomised: true, participants: 1, dose: '1' }, { participants: 2, dose: '2' });
  const completed = (await ada.post(`${two}/complete`, review.body({}, { stage: other.stage, baseVersion: second.versionId }))).json;
  assert.deepEqual(await outdated(two), ['dose', 'participants']);
  const key = newKey(), body = fix(['dose'], { baseVersion: completed.versionId });
  const fixed = await ada.post(`${two}/fix`, body, key);
  assert.deepEqual([fixed.status, fixed.json.state, fixed.json.versionSeq, fixed.json.answerCount], [200, 'savedIncomplete', 3, 3]);
  assert.deepEqual(await outdated(two), ['participants']);
  const again = await ada.post(`${two}/fix`, body, key);
  assert.deepEqual([again.text, again.headers.get('idempotency-replayed')], [fixed.text, 'true']);
  const { changes, kind } = (await ada.get(`${two}/versions/${fixed.json.versionId}/changes`)).json as Schemas['SessionChangesView'];
  assert.deepEqual([kind, changes.map(one => [one.question, one.before!.value, one.after!.value])], ['Fix', [['dose', '1', '2']]]);
  const versions = (await ada.get(`${two}/versions`)).json.items as Schemas['SessionVersionRow'][];
  assert.deepEqual(versions.map(one => [one.kind, one.state, one.changedCount]), [['Save', 'savedIncomplete', 3], ['Complete', 'completed', 0], ['Fix', 'savedIncomplete', 1]]);
});

test('Fix is refused by its place for what is not outdated, not answered, or changed since', async () => {
  const { one, two, changed, fix } = await changedElsewhere(fresh(), { participants: 1, dose: '1' }, { dose: '2' });
  const refused = (outcome: string, body: unknown) => ada.refused(outcome, 'POST', `${two}/fix`, { body });
  const revision = changed.answers[0]!.revision;
  assert.deepEqual(codes(await refused('ValidationFailed', fix(['dose'], { answers: [{ question: 'begun', revision }, { question: 'dose', revision }] }))), [['/answers/0', 'notAnswered']]);
  assert.deepEqual(codes(await refused('ValidationFailed', fix([]))), [['/answers', 'empty']]);
  const held = (await answersOf(two)).find(answer => answer.question === 'participants')!;
  assert.deepEqual(codes(await refused('ValidationFailed', fix([], { answers: [{ question: 'participants', revision: held.revision }] }))), [['/answers/0', 'notOutdated']]);
  assert.equal((await refused('StaleBase', fix(['dose'], { baseVersion: newKey() })))['base'], 'session');
  await refused('NotFound', fix(['dose'], { stage: newKey() }));
  const moved = (await ada.post(`${one}/save`, { ...review.body({}, { baseVersion: changed.versionId }), answers: [{ question: 'dose', value: '3', baseRevision: revision }] })).json;
  const stale = await refused('StaleBase', fix(['dose']));
  assert.deepEqual([stale['base'], stale['answers']], ['answers', [
    { question: 'dose', declared: { baseRevision: revision, value: '2' }, current: { revision: moved.answers[0].revision, value: '3' } },
  ]]);
  assert.deepEqual(await outdated(two), ['dose'], 'nothing was moved');
});

test('an equal value saved in the other form is no conflict and nothing is outdated', async () => {
  const study = fresh(), one = review.session(study), two = review.session(study, other.form);
  const first = (await ada.post(`${one}/save`, review.body({ dose: '1.0' }))).json;
  const second = (await ada.post(`${two}/save`, review.body({ dose: '1.0' }, { stage: other.stage }))).json;
  assert.equal(second.answers[0].revision, first.answers[0].revision, 'one answer, one revision');
  assert.deepEqual(await outdated(two), []);
});

test('a Fix names the draft it was made beside, and keeps what is typed there', async () => {
  const study = fresh(), { two, second, fix } = await changedElsewhere(study, { dose: '1' }, { dose: '2' });
  const tab = new Tab(review, ada, study, other.form, other.stage);
  [tab.base, tab.etag] = [second.versionId, second.draftEtag];
  await tab.put({ remarks: 'half a sen' });
  assert.equal((await ada.refused('DraftLeaseHeld', 'POST', `${two}/fix`, { body: fix(['dose']) }))['holder'], tab.holder);
  const fixed = await ada.post(`${two}/fix`, fix(['dose'], { draft: tab.named }));
  assert.equal(fixed.status, 200, fixed.text);
  assert.equal(await tab.typed(), null);
  const [copy] = await tab.copies();
  assert.deepEqual([copy!.reason, (await ada.get(`${tab.at}/conflicts/${copy!.id}`)).json.content.answers[0].value], ['leftOut', 'half a sen']);
});

test('an upgrade where there is nothing to go to, or from, is refused', async () => {
  const at = review.session(fresh());
  const upgrade = (body: Partial<Schemas['UpgradeRequest']>) => ({ stage: review.stage, baseVersion: newKey(), draft: null, formVersion: 1, ...body });
  const none = await ada.ask('POST', `${at}/upgrade`, { body: upgrade({}) });
  assert.deepEqual([none.problem.outcome, none.problem['base'], none.problem['current']], ['StaleBase', 'session', null]);
  const saved = (await ada.post(`${at}/save`, review.body({ dose: '1' }))).json;
  assert.deepEqual(codes(await ada.refused('ValidationFailed', 'POST', `${at}/upgrade`, { body: upgrade({ baseVersion: saved.versionId }) })), [['/formVersion', 'alreadyUpgraded']]);
  assert.equal((await ada.get(`${at}/versions`)).json.items.length, 1);
});

test('exposures are recorded once a version and revision, and only for one\'s own version and this study\'s revisions', async () => {
  const ben = await review.member('reviewer'), [study, elsewhere] = [fresh(), fresh()];
  const at = review.session(study);
  const theirs = (await ben.post(`${at}/save`, review.body({ dose: '1', participants: 1 }))).json as Schemas['SessionReceipt'];
  const far = (await ben.post(`${review.session(elsewhere)}/save`, review.body({ dose: '1' }))).json as Schemas['SessionReceipt'];
  const mine = (await ada.post(`${at}/save`, review.body({ dose: '2' }, { exposures: [] }))).json as Schemas['SessionReceipt'];
  const tell = (revisions: string[], version = mine.versionId, key: string = newKey()) => ada.post(`${at}/exposures`, { version, revisions }, key);
  const [one, two] = theirs.answers.map(answer => answer.revision) as [string, string];
  const key = newKey(), first = await tell([one, one], mine.versionId, key);
  assert.equal(first.json.recorded, 1, 'one that is named twice is one');
  for (let i = 0; i < 2; i++) assert.equal((await tell([one, two])).json.recorded, 2, 'told again it is recorded as before');
  assert.equal((await tell([one, mine.answers[0]!.revision])).json.recorded, 1, 'one\'s own do not count');
  const again = await tell([one, one], mine.versionId, key);
  assert.deepEqual([again.text, again.headers.get('idempotency-replayed')], [first.text, 'true']);
  assert.deepEqual(codes((await tell([newKey()])).json), [['/revisions/0', 'unknownRevision']]);
  assert.deepEqual(codes((await tell([two, far.answers[0]!.revision])).json), [['/revisions/1', 'unknownRevision']]);
  assert.deepEqual(codes((await tell([])).json), [['/revisions', 'empty']]);
  for (const version of [theirs.versionId, newKey()]) assert.equal((await tell([one], version)).problem.outcome, 'NotFound');
  const session = (await ada.get(at)).json as Schemas['SessionView'];
  assert.equal(session.exposureClass, 'informed');
});

test('what was shown is told by the Save, and its class is the session\'s', async () => {
  const ben = await review.member('reviewer'), study = fresh(), at = review.session(study);
  const theirs = (await ben.post(`${at}/save`, review.body({ dose: '1' }))).json as Schemas['SessionReceipt'];
  const classOf = async (person: Caller) => ((await person.get(at)).json as Schemas['SessionView']).exposureClass;
  assert.equal(await classOf(ben), 'unknown', 'it was not said');
  const mine = (await ada.post(`${at}/save`, review.body({ dose: '2' }, { exposures: [] }))).json;
  assert.equal(await classOf(ada), 'independent');
  await ada.post(`${at}/save`, review.body({ participants: 2 }, { baseVersion: mine.versionId, exposures: [theirs.answers[0]!.revision] }));
  assert.equal(await classOf(ada), 'informed');
});

test('the history is every version and what was done to drafts, newest first, page by page without a gap', async () => {
  const study = fresh(), ben = await review.member('reviewer'), at = review.session(study);
  const tab = new Tab(review, ada, study), beside = tab.beside();
  const { sessionId } = await tab.put({ dose: '1' });
  await beside.takeOver(tab.generation);
  const copy = (await tab.refused('DraftLeaseHeld', { dose: '2' }))['copyId'] as string;
  await ada.post(`${tab.at}/conflicts/${copy}/adopt`, { holder: beside.holder, etag: 1 });
  await review.admin.ask('POST', `${review.path}/sessions/${sessionId}/draft/release`);
  await ada.ask('DELETE', tab.at, { body: { holder: beside.holder, etag: 2 } });
  const saved = (await ada.post(`${at}/save`, review.body({ dose: '3' }))).json;
  await ada.post(`${at}/withdraw`, { stage: review.stage, baseVersion: saved.versionId, draft: null });
  await ben.post(`${at}/save`, review.body({ dose: '4' }));

  const walk = async (person: Caller, limit: number) => {
    const rows: Schemas['HistoryRow'][] = [];
    for (let cursor = ''; ;) {
      const { json, status, text } = await person.get(`${review.path}/studies/${study}/history?limit=${limit}${cursor}`);
      assert.equal(status, 200, text);
      rows.push(...json.items);
      if (json.next === null) return rows;
      cursor = `&cursor=${json.next}`;
    }
  };
  const all = await walk(review.admin, 500);
  for (const limit of [1, 3]) assert.deepEqual(await walk(review.admin, limit), all);
  assert.deepEqual(all.map(one => one.kind ?? one.draftEvent), ['Save', 'Withdraw', 'Save', 'discarded', 'released', 'copyAdopted', 'takenOver']);
  assert.deepEqual(all.map(one => one.actorId), [ben.id, ada.id, ada.id, ada.id, review.admin.id, ada.id, ada.id]);
  const stamps = all.map(one => BigInt(one.stamp));
  assert.ok(stamps.every((stamp, i) => i === 0 || stamp < stamps[i - 1]!), 'in the order of the stamps');
  assert.deepEqual(await walk(ada, 2), all.slice(1), 'one\'s own, whoever did it');
  assert.deepEqual((await walk(await review.member('observer'), 5)), []);
  await ada.refused('NotFound', 'GET', `${review.path}/studies/${newKey()}/history`);
});

test('what a version changed: first answers have no before, those taken back no after', async () => {
  const at = review.session(fresh());
  const first = (await ada.post(`${at}/save`, review.body({ dose: '1', participants: 1 }))).json as Schemas['SessionReceipt'];
  const revisions = Object.fromEntries(first.answers.map(answer => [answer.question, answer.revision]));
  const second = (await ada.post(`${at}/save`, {
    ...review.body({}, { baseVersion: first.versionId, withdrawn: [{ question: 'participants' }] }),
    answers: [{ question: 'dose', value: '2', notes: 'p. 3', baseRevision: revisions['dose'] }, { question: 'remarks', value: 'x', baseRevision: null }],
  })).json as Schemas['SessionReceipt'];
  const session = (await ada.get(at)).json as Schemas['SessionView'];
  const changesOf = async (version: string, path = at) => ((await ada.get(`${path}/versions/${version}/changes`)).json as Schemas['SessionChangesView']).changes;
  const found = Object.fromEntries((await changesOf(second.versionId)).map(({ question, before, after }) => [question, [before?.value ?? null, after?.value ?? null]]));
  assert.deepEqual(found, { dose: ['1', '2'], participants: [1, null], remarks: [null, 'x'] });
  assert.deepEqual((await changesOf(first.versionId)).map(one => one.before), [null, null]);
  const byId = `${review.path}/sessions/${session.sessionId}`;
  assert.deepEqual(await changesOf(second.versionId, byId), await changesOf(second.versionId));
  for (const path of [at, byId]) await ada.refused('NotFound', 'GET', `${path}/versions/${newKey()}/changes`);
  const elsewhere = await ada.post(`${review.session(fresh())}/save`, review.body({ dose: '1' }));
  for (const path of [at, byId])
    for (const more of ['', '/changes']) await ada.refused('NotFound', 'GET', `${path}/versions/${elsewhere.json.versionId}${more}`);
});

test('any session is read by its id by who may see others and its own reviewer, and by nobody else', async () => {
  const at = review.session(fresh());
  const saved = (await ada.post(`${at}/save`, review.body({ dose: '1' }))).json;
  const byId = `${review.path}/sessions/${saved.sessionId}`;
  const own = (await ada.get(at)).json;
  for (const person of [ada, review.admin, await review.member('reconciler')]) {
    const read = ok(await person.api.GET('/v1/projects/{project}/sessions/{session}', { params: { path: { project: review.project, session: saved.sessionId } } }));
    assert.deepEqual(read, own);
    assert.deepEqual((await person.get(`${byId}/versions`)).json.items.map((one: any) => one.versionId), [saved.versionId]);
    assert.equal((await person.get(`${byId}/versions/${saved.versionId}`)).json.answers[0].value, '1');
  }
  for (const person of [await review.member('reviewer'), await review.member('observer'), await review.member('queryReviewer')])
    for (const more of ['', '/versions', `/versions/${saved.versionId}`, `/versions/${saved.versionId}/changes`]) {
      const theirs = await person.refused('NotFound', 'GET', byId + more);
      assert.equal(theirs.detail, (await person.refused('NotFound', 'GET', `${review.path}/sessions/${newKey()}${more}`)).detail);
    }
});
