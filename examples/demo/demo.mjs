// make demo: three reviewers work on two hundred studies while connections break and the daemon is killed, and then
// everything is counted again. Exit status 0 only when the recount agrees.
//
//   node examples/demo/demo.mjs BINARIES DIRECTORY
//
// BINARIES holds evidenced and evidencectl of a test build; DIRECTORY is made anew.

import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { makeAnswers } from './answers.mjs';
import { Daemon, makeKeys, mintToken } from './daemon.mjs';
import { lostDraft, twoTabs } from './drafts.mjs';
import { claims, each, recount } from './recount.mjs';
import { Review, note } from './review.mjs';
import { Fault, bad, bold, counted, expect, fails, good, holds, line, say, step, table } from './tell.mjs';

const REVIEWERS = ['Ada', 'Ben', 'Chi'];
const TABS = 4; // how many studies one reviewer has open at a time
const CALM = 130; // studies reviewed before anything goes wrong; then as many as are left but the last few
const KEPT_BACK = 10; // for what is looked at closely
const TWINS = 8;

const example = (name) => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'));

async function setUp(review, binaries, directory) {
  const form = example('form.json');
  const batch = example('studies.json');
  step('A review');
  await review.createProject(mintToken(binaries, directory, randomUUID(), { scope: 'evidenced:create-project' }),
    'Supported self-management for adults with asthma');
  for (const name of REVIEWERS) {
    const id = randomUUID();
    await review.addReviewer(name, id, mintToken(binaries, directory, id));
  }
  await review.publishForm(form, 'Data extraction');
  say(`A project, ${REVIEWERS.length} reviewers (${REVIEWERS.join(', ')}), and a published form of ` +
    `${form.questions.length} questions.`);
  const receipt = await review.importStudies(batch);
  expect(receipt.added === batch.studies.length, `Of ${batch.studies.length} studies ${receipt.added} were added.`);
  holds(`${counted(receipt.added, 'study', 'studies')} imported as one command: all or none.`);
  const again = await review.importStudies(batch);
  expect(again.added === 0 && again.matched === batch.studies.length, 'A second import added studies again.');
  holds('Somebody imports the same file a second time: every study is recognised, none is added twice.');
}

/* Save the first half of the answers, then complete with the rest. */
async function reviewStudy(review, reviewer, study) {
  const session = review.openSession(reviewer, study);
  const answers = [...makeAnswers(review.questions, review.reviewers.indexOf(reviewer), study)];
  const half = Math.ceil(answers.length / 2);
  await review.mustSend(review.write(session, 'Save', answers.slice(0, half)));
  await review.mustSend(review.write(session, 'Complete', answers.slice(half)));
}

/* Everybody at once, in the same order: they meet on the same studies all the time. */
async function reviewStudies(review, from, to) {
  const studies = Array.from({ length: to - from }, (_, i) => from + i);
  const begun = Date.now();
  await Promise.all(review.reviewers.map((reviewer) => (
    each(studies, (study) => reviewStudy(review, reviewer, study), TABS))));
  return { sessions: studies.length * review.reviewers.length, seconds: (Date.now() - begun) / 1000 };
}

async function workInPeace(review) {
  step('Three reviewers at once');
  say(`Each reads the same studies in the same order, ${TABS} at a time. For every study they save half of their ` +
    'answers, then complete the form.');
  const { sessions, seconds } = await reviewStudies(review, 0, CALM);
  const waits = review.commands.reduce((sum, command) => sum + command.refusals.length, 0);
  holds(`${counted(sessions, 'session')} completed in ${seconds.toFixed(1)} s, ` +
    (waits === 0 ? 'and nobody was turned away.' : `${counted(waits, 'call')} answered "busy" and sent again.`));
}

async function workThroughCrashes(review, daemon) {
  const begun = { kills: daemon.kills, unanswered: unansweredOf(review) };
  step('The same, and the machine fails under them');
  say('Now the daemon kills itself (SIGKILL) in the middle of a commit: once just before its log is written, and ' +
    'once just after, before anybody is told. It is started again at once, and browsers without an answer send the same ' +
    'command with the same Idempotency-Key.');
  await daemon.stop();
  await daemon.start(['commit-before:120', 'commit-after:120']);
  const { sessions, seconds } = await reviewStudies(review, CALM, review.studies.length - KEPT_BACK);
  const kills = daemon.kills - begun.kills;
  expect(kills === 2, `The daemon should have been killed twice, and was ${kills} times.`);
  holds(`${counted(sessions, 'session')} completed in ${seconds.toFixed(1)} s, through ${counted(kills, 'kill')} and ` +
    `${counted(unansweredOf(review) - begun.unanswered, 'call')} without an answer.`);
}

const unansweredOf = (review) => review.commands.reduce((sum, command) => sum + command.unanswered, 0);

/* A session of Ada's with one saved version, on a study nobody has worked on. */
async function freshSession(review, nth) {
  const session = review.openSession(review.reviewers[0], review.studies.length - KEPT_BACK + nth);
  await review.mustSend(review.write(session, 'Save', [['eligible', 'include'], ['country', 'Northmoor']]));
  return session;
}

async function raceOfTwoTabs(review) {
  step('A lost race');
  const session = await freshSession(review, 0);
  say('Ada has the same study open in two tabs. Both started from the same version; both save at the same moment.');
  const base = session.base;
  const tabs = [review.write(session, 'Save', [['remarks', 'Typed in the first tab.']]),
    review.write(session, 'Save', [['setting', 'remote'], ['randomised', 120]])];
  const answers = await Promise.all(tabs.map(async (command) => {
    const answer = await command.client.ask('POST', command.path, command);
    note(command, answer);
    return answer;
  }));
  const won = answers.findIndex((answer) => answer?.status === 200);
  const lost = answers.findIndex((answer) => answer?.json?.outcome === 'StaleBase');
  expect(won >= 0 && lost >= 0, 'One tab should have saved, and the other been told StaleBase.');
  const problem = answers[lost].json;
  review.accept(tabs[won]);
  expect(problem.declared === base && problem.current === session.base, 'StaleBase should name both versions.');
  holds(`One tab is saved. The other is answered StaleBase: it started from version ${short(problem.declared)}, and ` +
    `the current one is ${short(problem.current)}.`);
  const typed = JSON.parse(tabs[lost].body).answers.map(({ question, value }) => [question, value]);
  const shown = await review.read(session.reviewer.client, session.path);
  expect(shown?.versionId === problem.current, 'The current version should be the one StaleBase named.');
  await review.mustSend(review.write(session, 'Save', typed));
  holds('What it typed is still in the tab. It reads the newer version and saves its own answers on top: both tabs’ ' +
    'words are in the session, and all three versions in its history.');
}

const short = (id) => `${id.slice(0, 8)}…`;

async function twins(review) {
  step('A nervous double click');
  const session = await freshSession(review, 1);
  const command = review.write(session, 'Save', [['remarks', 'Sent many times, saved once.']]);
  const answers = await Promise.all(Array.from({ length: TWINS }, () => (
    command.client.ask('POST', command.path, command))));
  for (const answer of answers) note(command, answer);
  expect(answers.every((answer) => answer?.status === 200), 'All of the equal commands should have been answered 200.');
  expect(command.firsts === 1 && !command.differing, 'Equal commands should have one effect and equal receipts.');
  review.accept(command);
  holds(`The same command, ${TWINS} times in parallel: one new version, and ${TWINS} equal receipts, ` +
    `${TWINS - 1} of them marked Idempotency-Replayed.`);
}

async function droppedAnswer(review) {
  step('A dropped answer');
  const session = await freshSession(review, 2);
  const command = review.write(session, 'Save', [['remarks', 'The train went into a tunnel.']]);
  say('Ada presses Save, and the connection is gone before the answer comes. Was it saved?');
  await command.client.sendAndHangUp(command.path, command.body, command.key);
  note(command, null);
  const { base } = session;
  for (let look = 0; look < 50; look++) {
    const head = await review.read(session.reviewer.client, session.path);
    if (head.versionId !== base) break;
    await pause(20); // it is carried out, or the daemon saw the line go dead first: both are allowed
  }
  const answer = await review.mustSend(command);
  holds('Her browser asks again with the same key and gets the receipt: ' +
    (answer.replayed ? 'it had been saved.' : 'it had not been saved, and is now.'));
  const again = await command.client.ask('POST', command.path, command);
  note(command, again);
  expect(again?.replayed && again.bytes.equals(command.receipt), 'A retry should be answered with the first receipt.');
  holds(`And once more, to be sure: the same ${command.receipt.length} bytes, marked as replayed.`);
}

/* One Save, and the daemon dies at this place in it. `landed`: had it reached the disk by then? */
async function crashInCommit(review, daemon, nth, { place, landed, where }) {
  const session = await freshSession(review, nth);
  const command = review.write(session, 'Save', [['remarks', `Sent before the crash at ${place}.`]]);
  const before = session.base;
  const kills = daemon.kills;
  await daemon.stop();
  await daemon.start([place]);
  const { ended } = daemon;
  note(command, await command.client.ask('POST', command.path, command));
  if (command.unanswered === 1) await ended;
  await daemon.whenUp();
  expect(command.unanswered === 1 && daemon.kills === kills + 1, `The daemon should have died at ${place}.`);
  const head = await review.read(session.reviewer.client, session.path);
  expect((head.versionId !== before) === landed,
    `After a crash at ${place} the version should${landed ? '' : ' not'} be there.`);
  const answer = await review.mustSend(command);
  expect(answer.replayed === landed,
    `After a crash at ${place} the retry should${landed ? '' : ' not'} have been a replay.`);
  holds(`Killed ${where}: ${landed ? 'the version is there after the restart, and the retry gets its receipt' :
    'the version is not there after the restart, and the retry makes it'}. Saved once.`);
}

async function crashesUpClose(review, daemon) {
  step('Two of those crashes, up close');
  await crashInCommit(review, daemon, 3,
    { place: 'commit-before', landed: false, where: 'just before the commit reached the disk' });
  await crashInCommit(review, daemon, 4,
    { place: 'commit-after', landed: true, where: 'just after, before Ada was answered' });
}

async function typing(review, binaries, directory, daemon) {
  const [ada, ...others] = review.reviewers;
  const fresh = (nth) => review.studies.length - KEPT_BACK + nth;
  await twoTabs(review, review.openSession(ada, fresh(5)));
  const id = randomUUID();
  others.push(await review.addReviewer('Dee', id, mintToken(binaries, directory, id)));
  await lostDraft(review, daemon, review.openSession(ada, fresh(6)), others);
}

const remarks = {
  StaleBase: 'the lost race: a conflict, nothing written',
  AtCapacity: 'no place left: nothing written, the draft stays',
};

function tellCommands(review) {
  const of = (name) => review.commands.filter((command) => command.name === name).length;
  const sum = (pickOf) => review.commands.reduce((total, command) => total + pickOf(command), 0);
  const refusals = new Map();
  for (const outcome of review.commands.flatMap((command) => command.refusals)) {
    refusals.set(outcome, (refusals.get(outcome) ?? 0) + 1);
  }
  const setUps = review.commands.filter((command) => command.session === null).length;
  const sent = sum(({ firsts, replays, unanswered, refusals: { length } }) => firsts + replays + unanswered + length);
  table('Commands', [['Save', of('Save')], ['Complete', of('Complete')], ['Withdraw', of('Withdraw')],
    ['about drafts', of('TakeOverDraft') + of('AdoptDraftCopy'), 'take over, adopt'],
    ['setting up', setUps], ['all', review.commands.length, 'each with an Idempotency-Key of its own']]);
  line();
  table('How they were answered', [
    ['carried out', sum(({ firsts }) => firsts), 'the first receipt'],
    ['replayed', sum(({ replays }) => replays), 'the first receipt again'],
    ...[...refusals].map(([outcome, count]) => [outcome, count, remarks[outcome] ?? 'sent again later']),
    ['no answer', sum(({ unanswered }) => unanswered), 'sent again with the same key'],
    ['sent in all', sent],
  ]);
}

function tellTyping(review) {
  const sum = (pickOf) => review.tabs.reduce((total, { counts }) => total + pickOf(counts), 0);
  table('Autosaves', [['stored', sum(({ puts, patches }) => puts + patches), 'each once'],
    ['DraftLeaseHeld', sum(({ refused }) => refused), 'another tab writes: kept as a copy'],
    ['no answer', sum(({ unanswered }) => unanswered), 'the same write sent again']]);
}

function tell(review, daemon, inCommits) {
  step('What was done');
  tellCommands(review);
  line();
  tellTyping(review);
  line();
  table('The daemon', [['killed', daemon.kills, `SIGKILL: ${inCommits} times in a commit, ` +
    `${daemon.kills - inCommits} times while somebody typed`]]);
}

async function countAgain(review) {
  step('The recount');
  say('Everything is read back through the API and compared with what was acknowledged.');
  const result = claims(review, await recount(review));
  for (const { sentence, against } of result) {
    if (against.length === 0) holds(sentence);
    else fails(`${sentence} But: ${against.slice(0, 3).join(', ')}${against.length > 3 ? ', …' : ''}`);
  }
  return result.every(({ against }) => against.length === 0);
}

async function play(binaries, directory) {
  const begun = Date.now();
  const daemon = new Daemon(binaries, directory,
    { 'subject-rate': '1000000', 'subject-burst': '1000000', 'subject-in-flight': '1000' });
  const review = new Review(daemon);
  try {
    makeKeys(binaries, directory);
    await daemon.start();
    await setUp(review, binaries, directory);
    await workInPeace(review);
    await workThroughCrashes(review, daemon);
    await raceOfTwoTabs(review);
    await twins(review);
    await droppedAnswer(review);
    await crashesUpClose(review, daemon);
    const inCommits = daemon.kills;
    await typing(review, binaries, directory, daemon);
    tell(review, daemon, inCommits);
    const agrees = await countAgain(review);
    await daemon.stop();
    const seconds = Math.round((Date.now() - begun) / 1000);
    if (!agrees) throw new Fault('The recount does not agree.');
    good(`Nothing lost, nothing doubled, nothing overwritten. ${seconds} s.`);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    bad(error.message);
    line(`The daemon’s last words:\n${daemon.log.slice(-5).join('\n')}`);
    line(`Its data is in ${directory}.`);
    process.exitCode = 1;
  } finally {
    review.done();
    daemon.destroy();
  }
}

const [binaries, directory] = process.argv.slice(2);
if (directory === undefined) {
  process.stderr.write('usage: node examples/demo/demo.mjs BINARIES DIRECTORY\n');
  process.exit(2);
}
rmSync(directory, { recursive: true, force: true });
line(bold('evidenced: no reviewer’s work is lost, doubled or silently overwritten. See for yourself.'));
await play(binaries, directory);
if (process.exitCode !== 1) rmSync(directory, { recursive: true, force: true });
