// Many at once, and then a count: nothing lost, nothing doubled.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { newKey, type Caller, type Reply, type Schemas } from './support/caller.js';
import { Daemon } from './support/daemon.js';
import { Review } from './support/review.js';

const daemons: Daemon[] = [];
after(() => Promise.all(daemons.map(daemon => daemon.done())));

async function start(options: Record<string, string> = {}, environment: Record<string, string> = {}): Promise<Daemon> {
  const daemon = await Daemon.start(options, environment);
  daemons.push(daemon);
  return daemon;
}

const reviewers = 8;

/** Send it until there is an answer that is not "again later": what every client does. Never with another key. */
async function sendUntilAnswered(person: Caller, path: string, body: unknown, key: string, whenGone: () => Promise<void>): Promise<Reply> {
  for (;;) {
    let reply: Reply;
    try {
      reply = await person.post(path, body, key);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // fetch's own: the connection broke
      await whenGone();
      continue;
    }
    if (reply.status < 400 || !reply.problem.retryable) return reply;
  }
}

type Sent = { key: string; receipt: Schemas['SessionReceipt'] };

/** One reviewer's way through the studies: a Save, then a Complete. All receipts. */
async function work(review: Review, person: Caller, studies: string[], value: number, whenGone: () => Promise<void>, onReceipt: () => void = () => {}): Promise<Map<string, Sent[]>> {
  const done = new Map<string, Sent[]>();
  for (const study of studies) {
    const steps: [string, Schemas['SaveRequest']][] = [
      ['save', review.body({ randomised: true, participants: value })],
      ['complete', review.body({ blinding: 'double', remarks: `by ${value}` })],
    ];
    const receipts: Sent[] = [];
    for (const [verb, body] of steps) {
      const key = newKey();
      const base = receipts.at(-1)?.receipt.versionId ?? null;
      const reply = await sendUntilAnswered(person, `${review.session(study)}/${verb}`, { ...body, baseVersion: base }, key, whenGone);
      assert.equal(reply.status, 200, reply.text);
      receipts.push({ key, receipt: reply.json });
      onReceipt();
    }
    done.set(study, receipts);
  }
  return done;
}

/** Every receipt is in the history, in its order, and nothing else is; the study counts everybody once. */
async function recount(review: Review, people: Caller[], all: Map<string, Sent[]>[]): Promise<void> {
  for (const [at, person] of people.entries())
    for (const [study, sent] of all[at]!) {
      const versions = (await person.get(`${review.session(study)}/versions`)).json.items as Schemas['SessionVersionRow'][];
      assert.deepEqual(versions.map(one => [one.versionId, one.commandId, one.kind]),
        [[sent[0]!.receipt.versionId, sent[0]!.key, 'Save'], [sent[1]!.receipt.versionId, sent[1]!.key, 'Complete']]);
      const session = (await person.get(review.session(study))).json as Schemas['SessionView'];
      const values = Object.fromEntries(session.answers.map(answer => [answer.question, answer.value]));
      assert.deepEqual(values, { randomised: true, participants: at + 1, blinding: 'double', remarks: `by ${at + 1}` });
    }
  for (const study of all[0]!.keys()) {
    const entry = ((await review.admin.get(`${review.path}/studies/${study}`)).json as Schemas['StudyView']).forms[0]!;
    assert.deepEqual([entry.places, entry.completed, entry.qualifying, entry.ready], [people.length, people.length, people.length, true]);
    assert.deepEqual(entry.members!.map(one => one.reviewerId).sort(), people.map(one => one.id).sort());
    const stamps = all.flatMap(one => one.get(study)!.map(({ receipt }) => receipt.stamp));
    assert.equal(new Set(stamps).size, stamps.length, 'no two commands on a study have one stamp');
    const studyVersions = all.flatMap(one => one.get(study)!.map(({ receipt }) => receipt.studyVersion)).sort((a, b) => a - b);
    assert.deepEqual(studyVersions, Array.from({ length: 2 * people.length }, (_, i) => i + 2), 'each command moved the study by one');
  }
}

const people = (review: Review) => Promise.all(Array.from({ length: reviewers }, () => review.member('reviewer')));
const never = async () => { throw new Error('the connection broke'); };

test('eight reviewers at once on the same forty studies lose nothing and double nothing', async () => {
  const review = await Review.ready(await start(), 40, { target: reviewers });
  const all = await people(review);
  await recount(review, all, await Promise.all(all.map((person, at) => work(review, person, review.studies, at + 1, never))));
});

test('of eight who come at once to a study for three, three get in', async () => {
  const review = await Review.ready(await start(), 10, { target: 3 });
  const all = await people(review);
  for (const study of review.studies) {
    const replies = await Promise.all(all.map(person => person.post(`${review.session(study)}/save`, review.body({ randomised: true }))));
    const outcomes = replies.map(reply => reply.problem.outcome ?? 'in').sort();
    assert.deepEqual(outcomes, [...Array(5).fill('AtCapacity'), ...Array(3).fill('in')]);
    assert.equal((await review.admin.get(`${review.path}/studies/${study}`)).json.forms[0].places, 3);
  }
});

test('kill -9 in the middle of it, restart, retry with the same keys: still nothing lost, nothing doubled', async () => {
  const daemon = await start();
  const review = await Review.ready(daemon, 25, { target: reviewers });
  const all = await people(review);
  let receipts = 0, restarting: Promise<void> | undefined, kills = 0;
  const restart = async () => {
    kills++;
    await daemon.kill();
    await daemon.restart();
    restarting = undefined;
  };
  const onReceipt = () => {
    if (++receipts % 100 === 0 && kills < 3) restarting ??= restart();
  };
  const whenGone = async () => { await restarting; };
  const done = await Promise.all(all.map((person, at) => work(review, person, review.studies, at + 1, whenGone, onReceipt)));
  assert.equal(kills, 3);
  await recount(review, all, done);
});

for (const point of ['attempt-registered', 'snapshot-read', 'derived', 'commit-before', 'commit-after', 'commit-known', 'answer-before'])
  test(`a Save cut off at ${point} takes effect once when it is sent again`, async () => {
    const daemon = await start();
    const review = await Review.ready(daemon, 1);
    const ada = await review.member('reviewer');
    await daemon.kill();
    await daemon.restart({ EVIDENCED_CRASH_AT: point });
    const key = newKey(), body = review.body({ participants: 9 });
    await assert.rejects(ada.post(`${review.session()}/save`, body, key), TypeError);
    await daemon.ended();
    await daemon.restart();
    const reply = await ada.post(`${review.session()}/save`, body, key);
    assert.equal(reply.status, 200, reply.text);
    const landed = ['commit-after', 'commit-known', 'answer-before'].includes(point);
    assert.equal(reply.headers.get('idempotency-replayed'), landed ? 'true' : null, 'replayed exactly when it had landed');
    assert.equal((await ada.get(`${review.session()}/versions`)).json.items.length, 1);
  });

test('told to stop, it finishes what it has, is not ready meanwhile, and has everything afterwards', async () => {
  const daemon = await start({ 'drain-seconds': '5' });
  const review = await Review.ready(daemon, 1);
  const ada = await review.member('reviewer');
  const draining = daemon.logged('draining');
  daemon.signal('SIGTERM');
  await draining;
  const ready = await ada.refused('Draining', 'GET', '/readyz', { token: null });
  assert.equal(ready.status, 503);
  assert.equal((await ada.get('/livez')).status, 200);
  const saved = await ada.post(`${review.session()}/save`, review.body({ participants: 4 }));
  assert.equal(saved.status, 200, 'it still serves');
  assert.equal(await daemon.ended(), 0);
  await daemon.restart();
  assert.equal((await ada.get(review.session())).json.versionId, saved.json.versionId);
});

test('who calls too often is told Busy with Retry-After; another is not', async () => {
  const daemon = await start({ 'subject-rate': '1', 'subject-burst': '20' });
  const review = await Review.create(daemon);
  const other = await review.member('observer');
  const replies = await Promise.all(Array.from({ length: 60 }, () => review.admin.get(review.path)));
  const busy = replies.filter(reply => reply.status === 429);
  assert.ok(busy.length >= 30, `${busy.length} were refused`);
  for (const { problem, headers } of busy) assert.deepEqual([problem.outcome, headers.get('retry-after')], ['Busy', '1']);
  assert.equal((await other.get(review.path)).status, 200);
});
