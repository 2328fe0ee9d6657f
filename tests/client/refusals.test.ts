// Every refusal of an autosave and of a Save: what the person is shown, and where what they typed is.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnyProblem, DraftState } from '#client';
import { FakeBrowser } from './support/browser.js';
import { Service } from './support/model.js';
import type { Call, Fault } from './support/network.js';
import { FakeTimers } from './support/time.js';

const dose = { question: 'dose' }, blinding = { question: 'blinding' };

function setUp() {
  const timers = new FakeTimers(), service = new Service(timers), browser = new FakeBrowser(service, timers);
  return { timers, service, browser, tab: browser.tab() };
}

const fault = (outcome: string, status: number, more: object = {}, retryAfter?: number): Fault => ({
  status, headers: { 'content-type': 'application/problem+json', ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }) },
  body: { type: `urn:evidenced:problem:${outcome}`, title: outcome, status, detail: `${outcome}.`, outcome, retryable: retryAfter !== undefined, ...more },
});

const isWrite = (call: Call) => call.path === '/draft' && (call.method === 'PUT' || call.method === 'PATCH');
const isSave = (call: Call) => call.path === '/save';
const outcomeOf = (state: DraftState) => (state.problem as AnyProblem | null)?.outcome;
const typedIn = (service: Service) => Object.fromEntries([...service.draft?.content ?? []].map(([key, change]) => [JSON.parse(key)[0], change.answer?.value ?? null]));

for (const [outcome, status] of [['Refused', 409], ['ValidationFailed', 409], ['NotFound', 404], ['Malformed', 400], ['StageCompleted', 409], ['BodyTooLarge', 413], ['PreconditionRequired', 428], ['Unauthenticated', 401], ['SizeLimitExceeded', 409]] as const) {
  test(`an autosave that is refused with ${outcome} stays in the browser, through a reload too, and goes when it may`, async () => {
    const { timers, service, tab } = setUp();
    let draft = await tab.open();
    draft.answer(dose, '1');
    await timers.advance(800);
    tab.network.fault = call => isWrite(call) ? fault(outcome, status, outcome === 'SizeLimitExceeded' ? { limit: 'draftContent' } : {}) : undefined;
    draft.answer(dose, '2');
    await timers.advance(800);
    assert.deepEqual([draft.state.status, outcomeOf(draft.state), draft.state.canEdit, draft.state.isKeptHere], ['refused', outcome, false, true]);
    const saved = await draft.save();
    assert.deepEqual([saved.outcome, saved.outcome === 'Blocked' && saved.problem?.outcome], ['Blocked', outcome]);
    await timers.advance(600_000);
    assert.deepEqual(tab.network.calls.filter(isWrite).length, status === 401 ? 3 : 2, 'and is not tried again and again');
    draft = await tab.reload();
    assert.equal(draft.shown(dose)?.value, '2');
    tab.network.fault = () => undefined;
    await draft.retry();
    assert.deepEqual([draft.state.status, typedIn(service)], ['saved', { dose: '2' }]);
  });
}

for (const [outcome, status, retryAfter, shown] of [['Busy', 429, 3, 'saving'], ['RetryableConflict', 409, 3, 'saving'], ['StoreUnavailable', 503, 3, 'offline'], ['OutcomeUnknown', 409, 3, 'checking']] as const) {
  test(`an autosave that meets ${outcome} waits as it is told and sends the same again`, async () => {
    const { timers, service, tab } = setUp();
    const draft = await tab.open();
    tab.network.once(isWrite, fault(outcome, status, {}, retryAfter));
    draft.answer(dose, '1');
    await timers.advance(800);
    assert.equal(draft.state.status, shown);
    draft.answer(blinding, 'double');
    await timers.advance(2_900);
    assert.equal(tab.network.calls.filter(isWrite).length, 1, 'typing on does not shorten it');
    await timers.advance(2_000);
    const [first, second] = tab.network.calls.filter(isWrite);
    assert.deepEqual(second!.body, first!.body);
    assert.deepEqual([draft.state.status, typedIn(service)], ['saved', { dose: '1', blinding: 'double' }]);
  });
}

for (const [outcome, more] of [
  ['Refused', { reason: 'permission' }], ['AtCapacity', {}], ['EnoughReviewers', {}], ['StepLocked', {}], ['StageCompleted', {}], ['ValidationFailed', { errors: [], errorCount: 0 }],
  ['SizeLimitExceeded', { limit: 'sessions' }], ['FormVersionNotRenderable', {}], ['ConflictedLegacyAnswer', {}], ['CommandDigestMismatch', {}], ['StaleBase', { base: 'answers', answers: [] }],
] as const) {
  test(`a Save that is refused with ${outcome} leaves what was typed in the draft, and typing goes on`, async () => {
    const { timers, service, tab } = setUp();
    const draft = await tab.open();
    draft.answer(dose, '1');
    tab.network.once(isSave, fault(outcome, 409, more));
    const result = await draft.save();
    assert.equal(result.outcome, outcome);
    assert.deepEqual([draft.state.status, draft.state.canEdit, typedIn(service)], ['saved', true, { dose: '1' }]);
    draft.answer(blinding, 'double');
    await timers.advance(800);
    assert.equal((await draft.save()).outcome, 'Done');
    assert.equal(service.answers.size, 2);
    const ids = tab.network.calls.filter(isSave).map(call => call.key);
    assert.notEqual(ids[0], ids[1], 'a new try is a new command');
  });
}

for (const base of ['session', 'draft'] as const) {
  test(`a Save refused with StaleBase of the ${base} sends nothing over it, and shows what there is`, async () => {
    const { timers, service, tab, browser } = setUp();
    browser.hub.isSilent = true;
    const draft = await tab.open();
    draft.answer(dose, '1');
    await timers.advance(800);
    tab.network.holds = isSave;
    const saving = draft.save();
    await timers.advance(0);
    const other = browser.tab();
    const second = await other.open();
    const taking = second.takeOver();
    await timers.advance(2_000);
    await taking;
    second.answer(dose, 'theirs');
    await timers.advance(800);
    if (base === 'session') assert.equal((await second.save()).outcome, 'Done');
    tab.network.release();
    const result = await saving;
    assert.deepEqual([result.outcome, result.outcome === 'StaleBase' && result.base], ['StaleBase', base]);
    assert.equal(draft.state.canEdit, false);
    // In the draft, the other tab saw it and typed over it.
    assert.equal(draft.shown(dose)?.value, base === 'session' ? '1' : 'theirs');
    assert.equal((await draft.reload()).outcome, 'Done');
    assert.equal(draft.shown(dose)?.value, 'theirs');
    assert.deepEqual(service.done.filter(name => name === 'POST /save').length, base === 'session' ? 1 : 0);
  });
}

test('a Save that finds the study locked keeps its draft, and the person may try again or type on', async () => {
  const { timers, service, tab } = setUp();
  const draft = await tab.open();
  draft.answer(dose, '1');
  tab.network.once(isSave, fault('Locked', 409, {}, 120));
  const result = await draft.save();
  assert.deepEqual([result.outcome, 'retryAfterMs' in result && result.retryAfterMs, draft.state.status], ['Locked', 120_000, 'saved']);
  draft.answer(dose, '2');
  await timers.advance(800);
  assert.deepEqual(typedIn(service), { dose: '2' });
  assert.equal((await draft.save()).outcome, 'Done');
});

test('"Checking whether your save landed" is shown while it is so, and ends in what became of it', async () => {
  const { timers, service, tab } = setUp();
  const draft = await tab.open();
  draft.answer(dose, '1');
  await timers.advance(800);
  let answers = 0;
  tab.network.fault = call => isSave(call) && answers++ < 2 ? 'unanswered' : undefined;
  const saving = draft.save();
  await timers.advance(100);
  assert.equal(draft.state.status, 'checking');
  await timers.advance(5_000);
  assert.deepEqual([(await saving).outcome, draft.state.status, service.versionSeq], ['Done', 'idle', 1]);
});

test('when nobody answers for long, save() ends, checking goes on, and what is typed meanwhile is kept for after', async () => {
  const { timers, service, tab } = setUp();
  const draft = await tab.open();
  draft.answer(dose, '1');
  await timers.advance(800);
  tab.network.fault = call => isSave(call) ? 'unanswered' : undefined;
  const saving = draft.save({ patienceMs: 3_000 });
  await timers.advance(5_000);
  assert.equal((await saving).outcome, 'Unanswered');
  draft.answer(blinding, 'double');
  await timers.advance(20_000);
  assert.equal(draft.state.status, 'checking');
  assert.equal(tab.network.calls.filter(isWrite).length, 1, 'nothing is written on a version that may be old');
  tab.network.fault = () => undefined;
  await timers.advance(40_000);
  assert.deepEqual([draft.lateResult?.outcome, draft.state.status, service.versionSeq, typedIn(service)], ['Done', 'saved', 1, { blinding: 'double' }]);
  assert.equal(new Set(tab.network.calls.filter(isSave).map(call => call.key)).size, 1);
});

test('saving again while it is being checked finds out first, and makes no second version of the same', async () => {
  const { timers, service, tab } = setUp();
  const draft = await tab.open();
  draft.answer(dose, '1');
  await timers.advance(800);
  tab.network.once(isSave, 'unanswered');
  assert.equal((await draft.save({ patienceMs: 0 })).outcome, 'Unanswered');
  assert.equal((await draft.save()).outcome, 'Done');
  assert.equal(service.versionSeq, 1);
  draft.answer(dose, '2');
  tab.network.once(isSave, 'unanswered');
  assert.equal((await draft.save({ patienceMs: 0 })).outcome, 'Unanswered');
  assert.equal((await draft.complete()).outcome, 'Done', 'but Complete after Save is another intent');
  assert.deepEqual([service.versionSeq, service.state], [3, 'completed']);
});

test('a Save found out late does not lead back to its version when a newer one was loaded meanwhile', async () => {
  const { timers, service, browser, tab } = setUp();
  browser.hub.isSilent = true;
  const draft = await tab.open();
  draft.answer(dose, '1');
  await timers.advance(800);
  tab.network.fault = call => isSave(call) ? 'unanswered' : undefined;
  assert.equal((await draft.save({ patienceMs: 0 })).outcome, 'Unanswered');
  const other = await browser.tab().open();
  const taking = other.takeOver();
  await timers.advance(2_000);
  await taking;
  other.answer(dose, '2');
  assert.equal((await other.save()).outcome, 'Done');
  other.close();
  assert.equal((await draft.reload()).outcome, 'Done');
  assert.equal(draft.shown(dose)?.value, '2');
  tab.network.fault = () => undefined;
  await timers.advance(120_000);
  assert.deepEqual([draft.lateResult?.outcome, draft.state.status, draft.state.versionId, draft.shown(dose)?.value], ['Done', 'idle', service.versionId, '2']);
  assert.equal(service.versionSeq, 2);
});

test('a Save cannot be sent while the service is away: it says so, and what is typed is safe', async () => {
  const { timers, service, tab } = setUp();
  const draft = await tab.open();
  tab.network.isDown = true;
  draft.answer(dose, '1');
  const saving = draft.save({ patienceMs: 2_000 });
  await timers.advance(5_000);
  assert.equal((await saving).outcome, 'NotSent');
  assert.deepEqual([draft.state.status, draft.state.unsent, draft.state.isKeptHere], ['offline', 1, true]);
  tab.network.isDown = false;
  await timers.advance(40_000);
  assert.deepEqual([draft.state.status, typedIn(service)], ['saved', { dose: '1' }]);
});

test('a save() is given up by its signal', async () => {
  const { timers, tab } = setUp();
  const draft = await tab.open();
  tab.network.isDown = true;
  draft.answer(dose, '1');
  const stop = new AbortController();
  const saving = draft.save({ signal: stop.signal });
  await timers.advance(1_000);
  stop.abort();
  assert.equal((await saving).outcome, 'NotSent');
});

test('whoever is no member any more still sees what they typed, and it is not given up', async () => {
  const { timers, service, tab } = setUp();
  const draft = await tab.open();
  draft.answer(dose, '1');
  await timers.advance(800);
  service.isRevoked = true;
  await timers.advance(31_000); // a heartbeat
  assert.deepEqual([draft.state.status, outcomeOf(draft.state), draft.shown(dose)?.value], ['refused', 'NotFound', '1']);
  draft.answer(blinding, 'double');
  const reloaded = await draft.reload();
  assert.deepEqual([reloaded.outcome, draft.shown(dose)?.value, draft.shown(blinding)?.value], ['Blocked', '1', 'double']);
  service.isRevoked = false;
  await draft.retry();
  assert.deepEqual([draft.state.status, typedIn(service)], ['saved', { dose: '1', blinding: 'double' }]);
});

test('a closed draft sends nothing more, and says so', async () => {
  const { timers, tab } = setUp();
  const draft = await tab.open();
  draft.answer(dose, '1');
  draft.close();
  const before = tab.network.calls.length;
  const result = await draft.save();
  assert.deepEqual([result.outcome, result.outcome === 'Blocked' && result.status], ['Blocked', 'closed']);
  await draft.flush();
  await timers.advance(60_000);
  assert.equal(tab.network.calls.length, before);
});

test('eight copies are kept by the service, the ninth stays in the browser: adopt or discard one, then there is room', async () => {
  const { timers, service, browser, tab } = setUp();
  browser.hub.isSilent = true;
  const holder = await tab.open();
  holder.answer(dose, '0');
  await timers.advance(800);
  for (let i = 1; i <= 9; i++) {
    const late = await browser.tab().open();
    service.release(); // so that it may type
    await late.retry();
    holder.answer(blinding, `again ${i}`);
    await timers.advance(800);
    late.answer(dose, `${i}`);
    await timers.advance(800);
    assert.equal(late.state.canEdit, false);
    if (i === 9) {
      assert.equal((await late.reload()).outcome, 'Done');
      const listed = await late.copies.list();
      assert.ok(listed.outcome === 'Done');
      assert.deepEqual(listed.value.filter(copy => copy.where === 'browser').map(copy => copy.places), [1]);
    }
    late.close();
  }
});

test('a browser without room says so, and nothing is given up for want of it', async () => {
  const { timers, service, browser, tab } = setUp();
  let isFull = false;
  const local = { ...browser.local, set: (name: string, text: string) => { if (isFull) throw new Error('no room'); browser.local.set(name, text); } };
  const holder = await tab.open();
  holder.answer(dose, '1');
  await timers.advance(800);
  const other = browser.tab({ local });
  const draft = await other.open();
  isFull = true;
  draft.answer(dose, 'typed in a tab that may only read');
  assert.equal(draft.state.isKeptHere, false);
  const taking = draft.takeOver();
  await timers.advance(2_000);
  assert.equal((await taking).outcome, 'NoRoom');
  assert.equal((await draft.reload()).outcome, 'NoRoom');
  assert.equal(draft.shown(dose)?.value, 'typed in a tab that may only read', 'it is still to be seen, and to be copied by hand');
  isFull = false;
  assert.equal((await draft.reload()).outcome, 'Done');
  const listed = await draft.copies.list();
  assert.ok(listed.outcome === 'Done');
  assert.deepEqual(listed.value.map(copy => copy.where), ['browser']);
  assert.equal(service.copies.length, 0);
});
