// Drafts as they are on the wire: the order of refusals, what they say, and what an administrator may see and do.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newKey, type Caller, type Reply, type Schemas } from './support/caller.js';
import { Daemon } from './support/daemon.js';
import { Review } from './support/review.js';

let daemon: Daemon, review: Review;
before(async () => {
  daemon = await Daemon.start();
  review = await Review.ready(daemon, 20);
});
after(() => daemon.done());

let next = 0;

/** One tab of a reviewer on a study nobody has touched. */
class Tab {
  readonly holder = newKey();

  constructor(readonly ada: Caller, readonly base: string) {}

  static async open(): Promise<Tab> {
    return new Tab(await review.member('reviewer'), review.session(review.studies[next++]!));
  }

  /** Another tab of the same reviewer. */
  other(): Tab {
    return new Tab(this.ada, this.base);
  }

  put(dose: string, writeSeq: number, others: Partial<Schemas['PutDraftRequest']> = {}, headers: Record<string, string> = { 'If-None-Match': '*' }): Promise<Reply> {
    const content = { answers: [{ question: 'dose', value: dose, baseRevision: null }], withdrawn: [] };
    return this.ada.ask('PUT', `${this.base}/draft`, { body: { stage: review.stage, formVersion: 1, baseVersion: null, holder: this.holder, writeSeq, content, ...others }, headers });
  }

  patch(dose: string, writeSeq: number, etag: number): Promise<Reply> {
    const content = { answers: [{ question: 'dose', value: dose, baseRevision: null }], withdrawn: [] };
    return this.ada.ask('PATCH', `${this.base}/draft`, { body: { baseVersion: null, holder: this.holder, writeSeq, content }, headers: { 'If-Match': `"${etag}"` } });
  }
}

test('an autosave needs a precondition, and answers with the etag of the next', async () => {
  const tab = await Tab.open();
  assert.equal((await tab.put('1', 1, {}, {})).problem.outcome, 'PreconditionRequired');
  const first = await tab.put('1', 1);
  assert.deepEqual([first.status, first.headers.get('etag'), first.json.etag, first.json.writeSeq], [200, '"1"', 1, 1]);
  const second = await tab.patch('2', 2, 1);
  assert.deepEqual([second.json.etag, second.json.writeSeq, second.json.leaseGeneration], [2, 2, 1]);
});

test('the same write again is answered like the first, without another etag', async () => {
  const tab = await Tab.open();
  const first = await tab.put('1', 1), again = await tab.put('1', 1);
  assert.deepEqual([again.status, again.json.etag], [200, first.json.etag]);
  await tab.patch('2', 2, 1);
  assert.deepEqual((await tab.patch('2', 2, 1)).json.etag, 2);
});

test('another tab, an old base, a gap, an old etag: refused in this order, and kept', async () => {
  const tab = await Tab.open(), other = tab.other();
  await tab.put('1', 1);
  const held = await other.put('2', 7, { baseVersion: newKey() });
  assert.deepEqual([held.problem.outcome, held.json.holder, held.json.etag, typeof held.json.copyId], ['DraftLeaseHeld', tab.holder, 1, 'string']);
  const stale = await tab.put('3', 7, { baseVersion: newKey() });
  assert.deepEqual([stale.problem.outcome, stale.json.current, typeof stale.json.copyId], ['StaleAutosave', null, 'string']);
  const gap = await tab.patch('4', 7, 9);
  assert.deepEqual([gap.problem.outcome, gap.json.base, gap.json.writeSeq, gap.json.copyId], ['StaleBase', 'draftSequence', 1, null]);
  const old = await tab.patch('5', 2, 9);
  assert.deepEqual([old.status, old.problem.outcome, old.json.etag, typeof old.json.copyId], [412, 'PreconditionFailed', 1, 'string']);
  const { json } = await tab.ada.get(`${tab.base}/draft/conflicts`);
  assert.deepEqual(json.items.map((copy: Schemas['DraftCopyView']) => copy.reason).sort(), ['leaseHeld', 'precondition', 'staleAutosave']);
  assert.equal((await tab.ada.get(`${tab.base}/draft`)).json.content.answers[0].value, '1');
});

test('a heartbeat renews the lease, for the tab that holds it', async () => {
  const tab = await Tab.open();
  await tab.ada.refused('NotFound', 'POST', `${tab.base}/draft/lease`, { key: null, body: { holder: tab.holder, etag: null } });
  await tab.put('1', 1);
  const renewed = await tab.ada.ask('POST', `${tab.base}/draft/lease`, { key: null, body: { holder: tab.holder, etag: null } });
  assert.deepEqual([renewed.status, renewed.json.etag, renewed.json.leaseGeneration], [200, 1, 1]);
  const other = await tab.ada.refused('DraftLeaseHeld', 'POST', `${tab.base}/draft/lease`, { key: null, body: { holder: tab.other().holder, etag: 1 } });
  assert.deepEqual([other['holder'], other['copyId']], [tab.holder, null]);
});

test('an administrator sees that there is a draft and who holds it, never what is in it, and may release it', async () => {
  const tab = await Tab.open();
  const { sessionId } = (await tab.put('secret', 1)).json;
  const at = `${review.path}/sessions/${sessionId}/draft`;
  const seen = await review.admin.get(at);
  assert.deepEqual([seen.json.places, seen.json.holder, seen.json.authorId], [1, tab.holder, tab.ada.id]);
  assert.ok(!seen.text.includes('secret'));
  await tab.ada.refused('Refused', 'POST', `${at}/release`);
  const released = await review.admin.ask('POST', `${at}/release`);
  assert.deepEqual([released.json.holder, released.json.leaseGeneration], [null, 2]);
  const gone = await tab.other().put('2', 1, {}, { 'If-Match': '"1"' });
  assert.deepEqual([gone.status, gone.json.leaseGeneration], [200, 3]);
});

test('nobody reaches another reviewer\'s draft or copies', async () => {
  const tab = await Tab.open(), grace = await review.member('reviewer');
  await tab.put('1', 1);
  const { copyId } = (await tab.other().put('2', 1)).json;
  assert.equal((await tab.ada.get(`${tab.base}/draft/conflicts/${copyId}`)).status, 200);
  await grace.refused('NotFound', 'GET', `${tab.base}/draft`);
  await grace.refused('NotFound', 'GET', `${tab.base}/draft/conflicts/${copyId}`);
  await grace.refused('NotFound', 'POST', `${tab.base}/draft/conflicts/${copyId}/discard`);
});
