// Two of the demo's stories: what becomes of typed text that nobody has saved yet.

import { Network } from './network.mjs';
import { carryOut } from './review.mjs';
import { Client } from './client.mjs';
import { Tab } from './tab.mjs';
import { counted, expect, holds, say, step } from './tell.mjs';

const TYPED_FIRST = 60; // words in the tab she forgets
const TYPED_SECOND = 20; // words in the other one
const TYPED_LATE = 10;
const TYPED_IN_THE_TRAIN = 20;
const KILLS = 4;
const WORDS_BETWEEN_KILLS = 10;

const same = (fields, others) => fields.size === others.size &&
  [...fields].every(([question, text]) => others.get(question) === text);

const fieldsOf = (content) => new Map((content?.answers ?? []).map(({ question, value }) => [question, value]));

/** The draft of a session as it is read: { bytes, etag, fields }. */
async function readDraft(review, session) {
  await review.daemon.whenUp();
  const answer = await session.reviewer.client.ask('GET', `${session.path}/draft`);
  expect(answer?.status === 200, 'The draft should be there.');
  return { bytes: answer.bytes, etag: answer.json.etag, fields: fieldsOf(answer.json.content) };
}

async function holdsExactly(review, tab, what) {
  const draft = await readDraft(review, tab.session);
  expect(same(draft.fields, tab.fields), `${what} the draft should hold what is on the screen, and nothing else.`);
  return draft;
}

/* A write that comes from a tab which does not hold the draft: refused, and kept as a copy. The copy's id. */
async function refusedAndKept(review, tab, changed) {
  const answer = await tab.write(tab.next(changed));
  expect(answer.json?.outcome === 'DraftLeaseHeld', `An autosave from tab ${tab.name} should have been DraftLeaseHeld.`);
  tab.readOnly = true;
  const copy = await review.read(tab.client, `${tab.path}/conflicts/${answer.json.copyId}`);
  const sent = new Map(changed.map((question) => [question, tab.fields.get(question)]));
  expect(copy?.state === 'kept' && same(fieldsOf(copy.content), sent), 'The copy should hold what was sent.');
  return copy.id;
}

const studyVersion = async (review, session) => (
  (await review.read(session.reviewer.client, `${review.path}/studies/${review.studies[session.study]}`)).version);

async function typeInTheFirst(review, tab) {
  say('Ada types remarks on a study. Nothing is saved yet; the tab autosaves after every word.');
  const version = await studyVersion(review, tab.session);
  await tab.typeAndSave('remarks', TYPED_FIRST);
  const { puts, patches } = tab.counts;
  const draft = await holdsExactly(review, tab, 'After typing');
  expect(draft.etag === TYPED_FIRST, `After ${TYPED_FIRST} writes the draft’s etag should be that, and is ${draft.etag}.`);
  expect(await studyVersion(review, tab.session) === version, 'An autosave should not have changed the study.');
  holds(`${counted(TYPED_FIRST, 'word')}, ${counted(puts + patches, 'autosave')}: ${puts} PUT that made the draft, ` +
    `${patches} PATCHes of the field that changed. The study itself was not touched.`);
}

async function typeInTheSecond(review, first, second) {
  say('She forgets that tab, opens the study in a second one, and goes on typing there.');
  await second.load();
  expect(same(second.fields, first.fields), 'The second tab should show what was typed in the first.');
  const copy = await refusedAndKept(review, second, [second.type('adverseEventsDetail', TYPED_SECOND)]);
  holds(`It shows her ${counted(first.words.length, 'word')}. What she types here is refused, as DraftLeaseHeld: the ` +
    `first tab holds the draft. Her ${counted(TYPED_SECOND, 'new word')} are kept beside it, as a copy.`);
  return copy;
}

async function takeOver(review, first, second, copy) {
  await second.takeOver();
  await second.adopt(copy);
  expect(second.words.every((word) => second.fields.get('adverseEventsDetail').split(' ').includes(word)) &&
    second.fields.get('remarks') === first.fields.get('remarks'), 'The second tab should show the words of both.');
  holds(`She takes over: the second tab writes now. It shows the draft and the adopted copy, ` +
    `${counted(first.words.length + second.words.length, 'word')} of hers.`);
}

async function typeTooLate(review, first, second) {
  say(`The first tab does not know yet, and has ${TYPED_LATE} more words.`);
  const before = await readDraft(review, second.session);
  const copy = await refusedAndKept(review, first, [first.type('remarks', TYPED_LATE)]);
  expect((await readDraft(review, second.session)).bytes.equals(before.bytes), 'The draft should be as it was.');
  holds('Refused, as DraftLeaseHeld: that tab turns read only, its words are kept as a copy, and the draft is ' +
    `byte for byte as it was.`);
  const { copyId } = await second.adopt(copy);
  expect(second.fields.get('remarks') === first.fields.get('remarks'), 'The late words should be in the draft.');
  expect(copyId !== undefined, 'What the adopted copy replaced should be kept.');
  holds('She adopts that copy too. It says more of the same field, so the field as it was is kept in its turn.');
}

async function saveIt(review, tab) {
  await tab.typeAndSave('remarks', 1);
  const typed = new Map(tab.fields);
  await review.mustSend(tab.save());
  const head = await review.read(tab.client, tab.path.replace(/\/draft$/, ''));
  expect(same(fieldsOf(head), typed), 'The session should hold what was on the screen.');
  const draft = await readDraft(review, tab.session);
  expect(draft.fields.size === 0, 'A Save should have emptied the draft.');
  const words = [...typed.values()].flatMap((text) => text.split(' ')).length;
  holds(`One more word, and Save: all ${counted(words, 'word')} are in the session, and the draft is empty.`);
}

/** The same study open in two tabs, and both autosave. */
export async function twoTabs(review, session) {
  step('Two tabs');
  const first = new Tab(review, session, 'A'), second = new Tab(review, session, 'B');
  await typeInTheFirst(review, first);
  const copy = await typeInTheSecond(review, first, second);
  await takeOver(review, first, second, copy);
  await typeTooLate(review, first, second);
  await saveIt(review, second);
}

async function loseAnAnswer(review, tab, network) {
  say('Ada types in a train. The daemon takes a word in, and the connection breaks before she is told.');
  await tab.typeAndSave('remarks', TYPED_IN_THE_TRAIN / 2);
  network.loseNextAnswer();
  await tab.typeAndSave('remarks', TYPED_IN_THE_TRAIN / 2);
  const { puts, patches, unanswered } = tab.counts;
  expect(network.lost === 1 && unanswered === 1, 'One answer should have been lost.');
  const { etag } = await holdsExactly(review, tab, 'After a lost answer');
  expect(etag === puts + patches, `${puts + patches} writes should have made etag ${puts + patches}, not ${etag}.`);
  holds(`The tab sends the same write again and types on: ${counted(puts + patches, 'word')}, ` +
    `${counted(puts + patches + unanswered, 'request')}, and the draft has changed ${counted(etag, 'time')}.`);
}

/* One word, and the daemon is killed: while the write is on its way to it, or its answer on the way back. Had it reached
 * the disk? */
async function typeThroughKill(review, tab, network, daemon, onTheWayBack) {
  const { ended, kills } = daemon;
  const write = tab.next([tab.type('remarks', 1)]);
  const before = tab.etag;
  if (onTheWayBack) network.loseNextAnswer(() => daemon.kill());
  else network.atNextRequest(() => daemon.kill());
  const answer = await tab.send(write);
  await ended;
  await daemon.whenUp();
  expect(daemon.kills === kills + 1, 'The daemon should have been killed.');
  expect(!onTheWayBack || answer === null, 'The answer should have been lost.');
  const landed = (await readDraft(review, tab.session)).etag > before;
  expect(landed || (answer === null && !onTheWayBack), 'What was acknowledged should be there after the restart.');
  await tab.mustWrite(write);
  return landed;
}

async function killWhileTyping(review, tab, network, daemon) {
  say('She types on. Now the daemon is killed with -9 in the middle of it, again and again: while a word is on its way, ' +
    'or while its answer is.');
  const begun = tab.words.length;
  let landed = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    await tab.typeAndSave('remarks', WORDS_BETWEEN_KILLS);
    landed += await typeThroughKill(review, tab, network, daemon, kill % 2 === 1);
  }
  const { etag } = await holdsExactly(review, tab, 'After the kills');
  expect(etag === tab.words.length, `${tab.words.length} words should have made etag ${tab.words.length}, not ${etag}.`);
  holds(`${counted(KILLS, 'kill')} in ${counted(tab.words.length - begun, 'word')}: of the words under way ${landed} had ` +
    `reached the disk, and ${KILLS - landed} had not. The tab sends each again as soon as the daemon is back. The draft ` +
    `holds all ${counted(tab.words.length, 'word')} in their order, and has changed ${counted(etag, 'time')}.`);
}

async function takeThePlaces(review, study, reviewers) {
  const sessions = reviewers.map((reviewer) => review.openSession(reviewer, study));
  for (const session of sessions) await review.mustSend(review.write(session, 'Save', [['eligible', 'include']]));
  return sessions;
}

async function saveTooLate(review, tab, others) {
  const names = others.map(({ name }) => name).join(', ').replace(/, (\w+)$/, ' and $1');
  say(`Meanwhile ${names} save their first answers on the same study, and the form takes three reviewers.`);
  const taken = await takeThePlaces(review, tab.session.study, others);
  const before = await readDraft(review, tab.session);
  const late = tab.save();
  const refusal = await carryOut(review.daemon, tab.client, late);
  expect(refusal.json?.outcome === 'AtCapacity', 'There should have been no place left for Ada.');
  const after = await readDraft(review, tab.session);
  expect(after.bytes.equals(before.bytes), 'A refused Save should not have touched the draft.');
  holds(`Ada’s Save is refused, as AtCapacity. Her draft is still there: the same ${counted(after.bytes.length, 'byte')}.`);
  const last = taken.at(-1);
  await review.mustSend(review.withdraw(last));
  const typed = new Map(tab.fields);
  await review.mustSend(tab.save());
  const head = await review.read(tab.client, tab.session.path);
  expect(same(fieldsOf(head), typed), 'The session should hold what was on the screen.');
  holds(`${last.reviewer.name} withdraws, and Ada saves: all ${counted(tab.words.length, 'word')} are in her session.`);
}

/** A draft that everything happens to. `others`: three more reviewers. */
export async function lostDraft(review, daemon, session, others) {
  step('The lost draft that is not lost');
  const network = new Network(daemon);
  await network.open();
  const client = new Client(() => network.port, session.reviewer.client.token);
  try {
    const tab = new Tab(review, session, 'C', client);
    await loseAnAnswer(review, tab, network);
    await killWhileTyping(review, tab, network, daemon);
    await saveTooLate(review, tab, others);
  } finally {
    client.done();
    network.close();
  }
}
