// The recount must notice: everything that can be wrong is done to a small world in turn, and exactly the claims it
// breaks fail.

import assert from 'node:assert/strict';
import test from 'node:test';
import { claims, recount } from './recount.mjs';

/* What the service would answer, one study and one reviewer with two versions, and the review that agrees with it. */
function world() {
  const client = { ask: async (method, path, command) => (
    { status: 200, replayed: true, bytes: Buffer.from(api.receipts[command.key]) }) };
  const path = '/session';
  const api = {
    receipts: { k1: 'first', k2: 'second' },
    '/session/versions': [{ versionId: 'v1', commandId: 'k1' }, { versionId: 'v2', commandId: 'k2' }],
    '/session/versions/v1': { answers: [{ question: 'a', value: ['x', 'y'] }] },
    '/session/versions/v2': { answers: [{ question: 'a', value: ['x', 'y'] }, { question: 'b', value: 2 }] },
    '/session': { versionId: 'v2', state: 'completed', answers: [{ value: 'w1 w2' }, { value: ['x'] }] },
    '/session/draft': { content: { answers: [{ value: 'w3' }] } },
    '/session/draft/conflicts': [{ id: 'c1' }],
    '/session/draft/conflicts/c1': { content: { answers: [{ value: 'w1 w4' }] } },
    '/project/studies': [{ id: 's1', forms: [{ formId: 'f1', places: 1, savedIncomplete: 0, completed: 1, qualifying: 1,
      members: [{}] }] }],
  };
  const command = (key, receipt, holds) => ({ key, client, path, receipt: Buffer.from(receipt), holds: new Map(holds),
    firsts: 1, replays: 0, unanswered: 0, refusals: [], differing: false });
  const commands = [command('k1', 'first', [['a', ['y', 'x']]]),
    command('k2', 'second', [['a', ['x', 'y']], ['b', 2]])];
  const session = { reviewer: { client }, study: 0, path, base: 'v2', versions: [
    { command: commands[0], versionId: 'v1', studyVersion: 2 },
    { command: commands[1], versionId: 'v2', studyVersion: 3 }] };
  const review = { admin: client, path: '/project', form: 'f1', studies: ['s1'], sessions: [session], commands,
    tabs: [{ session, words: ['w1', 'w2', 'w3', 'w4'] }],
    daemon: { whenUp: async () => {} },
    read: async (_, from) => api[from] ?? null,
    readAll: async (_, from) => api[from] };
  return { api, review, session, commands };
}

const wrongs = [
  ['all is well', () => {}, []],
  ['an acknowledged version is gone', ({ api }) => api['/session/versions'].shift(), ['Nothing is lost']],
  ['the newest version is not the session’s', ({ api }) => { api['/session'].versionId = 'v1'; }, ['Nothing is lost']],
  ['an answer is another', ({ api }) => { api['/session/versions/v1'].answers[0].value = ['x']; },
    ['Every version holds']],
  ['an answer is gone', ({ api }) => api['/session/versions/v2'].answers.pop(), ['Every version holds']],
  ['a version is there that nobody acknowledged',
    ({ api }) => api['/session/versions'].push({ versionId: 'v3', commandId: 'k3' }),
    ['Nothing is lost', 'Nothing is there']],
  ['one command made two versions',
    ({ api }) => api['/session/versions'].push({ versionId: 'v3', commandId: 'k2' }),
    ['Nothing is lost', 'Nothing is there', 'Nothing is doubled']],
  ['one command was carried out twice', ({ commands }) => { commands[0].firsts = 2; }, ['Nothing is doubled']],
  ['a command was given two receipts', ({ commands }) => { commands[0].differing = true; }, ['Nothing is doubled']],
  ['a command was never answered', ({ commands }) => { commands.push({ ...commands[0], receipt: null }); },
    ['Nothing is there']],
  ['a study counts somebody twice', ({ api }) => { api['/project/studies'][0].forms[0].places = 2; }, ['The counts']],
  ['a withdrawn place is counted', ({ api }) => { api['/session'].state = 'withdrawn'; }, ['The counts']],
  ['a study is gone', ({ api }) => api['/project/studies'].pop(), ['The counts']],
  ['two commands made the same version of the study', ({ session }) => { session.versions[1].studyVersion = 2; },
    ['Nothing is overwritten']],
  ['a receipt is another the second time', ({ api }) => { api.receipts.k1 = 'other'; }, ['Every receipt']],
  ['a word is not saved', ({ api }) => { api['/session'].answers[0].value = 'w1'; }, ['Nothing typed']],
  ['a draft is empty', ({ api }) => { api['/session/draft'].content = null; }, ['Nothing typed']],
  ['a copy is gone', ({ api }) => api['/session/draft/conflicts'].pop(), ['Nothing typed']],
  ['a word is saved twice', ({ api }) => { api['/session'].answers[0].value = 'w1 w2 w1'; }, ['Nothing typed']],
];

for (const [name, spoil, broken] of wrongs) {
  test(`the recount when ${name}`, async () => {
    const it = world();
    spoil(it);
    const failed = claims(it.review, await recount(it.review)).filter(({ against }) => against.length > 0);
    const expected = [...broken].sort();
    const found = failed.map(({ sentence }) => expected.find((begin) => sentence.startsWith(begin)) ?? sentence).sort();
    assert.deepEqual(found, expected);
  });
}
