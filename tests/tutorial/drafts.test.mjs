// The refusals docs/drafts.md lists: each is provoked, and is the text kept as the page says?

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Daemon, makeKeys, mintToken } from '../../examples/demo/daemon.mjs';
import { Review } from '../../examples/demo/review.mjs';

const { EVIDENCED_BIN: binaries } = process.env;

/* The rows of the page's tables of refusals, without their last column. */
const ROWS = readFileSync(new URL('../../docs/drafts.md', import.meta.url), 'utf8').split('\n')
  .filter((line) => line.startsWith('| ') && line.includes('`'))
  .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '')));
const ofAutosaves = ROWS.filter((cells) => cells.length === 4 && /^`[A-Z]/.test(cells[0]));
const ofCommands = ROWS.filter((cells) => cells.length === 4 && /^[A-Z]/.test(cells[0]));

const COPIES = 8;
const directory = mkdtempSync(join(tmpdir(), 'evidenced-drafts-'));
let daemon, review, ada;

before(async () => {
  daemon = new Daemon(binaries, directory, { 'subject-rate': '1000000', 'subject-burst': '1000000' });
  review = new Review(daemon);
  makeKeys(binaries, directory);
  await daemon.start();
  await review.createProject(mintToken(binaries, directory, randomUUID(), { scope: 'evidenced:create-project' }), 'Drafts');
  const id = randomUUID();
  ada = await review.addReviewer('Ada', id, mintToken(binaries, directory, id));
  await review.publishForm({ name: 'Extraction', capacity: { target: 1 },
    questions: ['a', 'b'].map((question) => ({ id: question, label: question, kind: 'text' })) }, 'Full text');
  await review.importStudies({ studies: Array.from({ length: 40 }, (_, i) => ({ title: `Study ${i}` })) });
});

after(async () => {
  await daemon.stop();
  review.done();
  rmSync(directory, { recursive: true, force: true });
});

/* Ada's session on a study of its own, and what her tabs may send to it. */
class Desk {
  static next = 0;

  constructor() {
    this.session = review.openSession(ada, Desk.next++);
    this.tab = randomUUID();
    this.other = randomUUID();
  }

  async ask(method, path, body, headers = {}) {
    const key = method === 'POST' || method === 'DELETE' ? randomUUID() : undefined;
    const answer = await ada.client.ask(method, `${this.session.path}${path}`,
      { body: body === undefined ? undefined : JSON.stringify(body), key, headers });
    return { status: answer.status, ...answer.json };
  }

  put(writeSeq, value, match, more = {}) {
    return this.#write('PUT', { stage: review.stage, formVersion: 1, writeSeq, ...more }, value, match);
  }

  patch(writeSeq, value, match, more = {}) {
    return this.#write('PATCH', { writeSeq, ...more }, value, match);
  }

  #write(method, body, value, match) {
    const headers = { first: { 'If-None-Match': '*' }, none: {} }[match] ?? { 'If-Match': `"${match}"` };
    return this.ask(method, '/draft', { baseVersion: null, holder: this.tab,
      content: { answers: [{ question: 'a', value, baseRevision: null }], withdrawn: [] }, ...body }, headers);
  }

  /* A first draft of this tab. */
  async begin() {
    assert.equal((await this.put(1, 'typed', 'first')).etag, 1);
    return this;
  }

  save(draft, value = 'typed') {
    return this.ask('POST', '/save', { stage: review.stage, formVersion: 1, baseVersion: null, draft,
      answers: [{ question: 'a', value, baseRevision: null }] });
  }

  /* Nobody holds it any more. */
  async release() {
    const { sessionId } = await this.ask('GET', '/draft');
    const answer = await review.admin.ask('POST', `${review.path}/sessions/${sessionId}/draft/release`, { key: randomUUID() });
    assert.equal(answer.status, 200);
  }

  async takeOver(leaseGeneration = 1) {
    return this.ask('POST', '/draft/takeover', { holder: this.other, leaseGeneration });
  }

  async copies() {
    const { items } = await this.ask('GET', '/draft/conflicts');
    return items.length;
  }
}

const begun = () => new Desk().begin();

/* Row of the page, to what provokes it: [desk, the answer]. */
const autosaves = {
  '`DraftLeaseHeld`': async () => {
    const desk = await begun();
    return [desk, await desk.patch(1, 'late', 1, { holder: desk.other })];
  },
  '`StaleAutosave`': async () => {
    const desk = await begun();
    await desk.save({ etag: 1, holder: desk.tab, writeSeq: 1 });
    return [desk, await desk.patch(1, 'late', 1)];
  },
  '`StaleBase`, `draftSequence`, with `copyId`': async () => {
    const desk = await begun();
    return [desk, await desk.put(1, 'something else', 1)];
  },
  '`StaleBase`, `draftSequence`, `copyId` null': async () => {
    const desk = await begun();
    return [desk, await desk.patch(3, 'with a gap', 1)];
  },
  '`PreconditionFailed`': async () => {
    const desk = await begun();
    return [desk, await desk.patch(2, 'on another content', 7)];
  },
  '`SizeLimitExceeded`, `draftContent`': async () => {
    const desk = await begun();
    const answers = Array.from({ length: 97 }, (_, i) => (
      { question: `q${i}`, value: 'x'.repeat(10 * 1024), baseRevision: null })); // 970 KiB of 960, in a body of 1 MiB
    return [desk, await desk.put(2, null, 1, { content: { answers, withdrawn: [] } })];
  },
  '`SizeLimitExceeded`, `draftCopies`': async () => {
    const desk = await begun();
    for (let i = 0; i < COPIES; i++) await desk.patch(1, `copy ${i}`, 1, { holder: desk.other });
    assert.equal(await desk.copies(), COPIES);
    return [desk, await desk.patch(1, 'one too many', 1, { holder: desk.other })];
  },
  '`StaleBase`, `session`': async () => {
    const desk = new Desk();
    return [desk, await desk.put(1, 'typed', 'first', { baseVersion: randomUUID() })];
  },
  '`ValidationFailed`': async () => {
    const desk = await begun();
    const answers = ['one', 'two'].map((value) => ({ question: 'a', value, baseRevision: null }));
    return [desk, await desk.put(2, null, 1, { content: { answers, withdrawn: [] } })];
  },
  '`PreconditionRequired`': async () => {
    const desk = await begun();
    return [desk, await desk.patch(2, 'typed', 'none')];
  },
  '`NotFound`': async () => {
    const desk = new Desk();
    return [desk, await desk.patch(1, 'typed', 1)];
  },
};
const NOT_HERE = ['`SizeLimitExceeded`, `sessions`']; // takes more reviewers than a test should have

const words = (cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, word]) => word);

for (const [row, provoke] of Object.entries(autosaves)) {
  test(`an autosave that is refused: ${row}`, async () => {
    const [outcome, detail] = words(row);
    const kept = ofAutosaves.find(([first]) => first === row)[2];
    const [desk, answer] = await provoke();
    assert.equal(answer.outcome, outcome);
    if (detail !== undefined && detail !== 'copyId') assert.ok([answer.base, answer.limit].includes(detail), detail);
    if (kept.startsWith('yes')) {
      const copy = await desk.ask('GET', `/draft/conflicts/${answer.copyId}`);
      assert.equal(copy.state, 'kept');
    } else {
      assert.ok(answer.copyId === undefined || answer.copyId === null);
      assert.ok(await desk.copies() === 0 || row.includes('draftCopies'));
    }
  });
}

test('every refusal of an autosave that the page lists is provoked here', () => {
  assert.deepEqual(ofAutosaves.map(([row]) => row).filter((row) => !NOT_HERE.includes(row)).sort(),
    Object.keys(autosaves).sort());
});

/* Command and answer, as the page has them. */
const commands = [
  ['Save', '`StaleBase`, `draft`', async (desk) => desk.save({ etag: 2, holder: desk.tab, writeSeq: 1 })],
  ['Save', '`StaleBase`, `draft`', async (desk) => { await desk.release(); return desk.save(null); }],
  ['Save', '`DraftLeaseHeld`', async (desk) => desk.save(null, 'something else')],
  ['TakeOverDraft', '`StaleBase`, `draftLease`', async (desk) => desk.takeOver(7)],
  ['RenewDraftLease', '`DraftLeaseHeld`', async (desk) => {
    await desk.takeOver();
    return desk.ask('POST', '/draft/lease', { holder: desk.tab, etag: 1 });
  }],
  ['RenewDraftLease', '`StaleBase`, `draft`', async (desk) => {
    await desk.release();
    return desk.ask('POST', '/draft/lease', { holder: desk.tab, etag: 7 });
  }],
  ['DiscardDraft', '`StaleBase`, `draft`', async (desk) => desk.ask('DELETE', '/draft', { holder: desk.tab, etag: 7 })],
];

for (const [command, row, provoke] of commands) {
  test(`${command} is refused: ${row}`, async () => {
    assert.ok(ofCommands.some(([names, answer]) => names.split(', ').includes(command) && answer === row), 'not on the page');
    const desk = await begun();
    const [outcome, base] = words(row);
    const answer = await provoke(desk);
    assert.equal(answer.outcome, outcome);
    assert.equal(answer.base, base);
    const { content } = await desk.ask('GET', '/draft');
    assert.equal(content.answers[0].value, 'typed', 'the draft is as it was');
  });
}

test('every refusal of a command that the page lists is provoked here', () => {
  const listed = ofCommands.filter(([, answer]) => answer.startsWith('`')).map(([names, answer]) => [names.split(', '), answer]);
  for (const [names, answer] of listed) {
    assert.ok(commands.some(([name, row]) => names.includes(name) && row === answer), `${names}: ${answer}`);
  }
});

test('the calls in the order of the page', async () => {
  const desk = new Desk();
  assert.equal((await desk.ask('GET', '')).status, 404);
  assert.equal((await desk.ask('GET', '/draft')).status, 404);
  assert.equal((await desk.put(1, 'one', 'first')).etag, 1);
  assert.equal((await desk.patch(2, 'two', 1)).etag, 2);
  assert.equal((await desk.patch(3, 'three', 2)).etag, 3);
  assert.equal((await desk.patch(3, 'three', 2)).etag, 3, 'the same write again');
  assert.equal((await desk.ask('POST', '/draft/lease', { holder: desk.tab, etag: null })).etag, 3);
  const saved = await desk.save({ etag: 3, holder: desk.tab, writeSeq: 3 }, 'three');
  assert.equal(saved.draftEtag, 4);
  assert.equal((await desk.patch(4, 'four', 4, { baseVersion: saved.versionId })).etag, 5);
});

test('two tabs, as the page draws them', async () => {
  const desk = await begun();
  const asOther = { holder: desk.other };
  const first = await desk.patch(1, 'of tab B', 1, asOther);
  assert.equal(first.outcome, 'DraftLeaseHeld');
  assert.equal((await desk.takeOver(first.leaseGeneration)).etag, 1);
  assert.equal((await desk.ask('POST', `/draft/conflicts/${first.copyId}/adopt`, { ...asOther, etag: 1 })).etag, 2);
  const late = await desk.patch(2, 'late words of tab A', 1);
  assert.equal(late.outcome, 'DraftLeaseHeld');
  const adopted = await desk.ask('POST', `/draft/conflicts/${late.copyId}/adopt`, { ...asOther, etag: 2 });
  assert.equal(adopted.etag, 3);
  assert.notEqual(adopted.copyId, undefined, 'what it replaced is a copy in its turn');
  assert.equal((await desk.patch(1, 'and on', 3, asOther)).etag, 4);
});
