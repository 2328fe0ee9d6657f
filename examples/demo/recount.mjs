// The recount: reads everything back and compares it with what was acknowledged.

import { counted } from './tell.mjs';

const AT_ONCE = 12;

/** Runs the jobs, some at a time. */
export async function each(items, job, atOnce = AT_ONCE) {
  const queue = items[Symbol.iterator]();
  await Promise.all(Array.from({ length: atOnce }, async () => {
    for (const item of queue) await job(item);
  }));
}

const canonical = (value) => JSON.stringify(Array.isArray(value) ? [...value].sort() : value);

function sameAnswers(view, expected) {
  return view.answers.length === expected.size &&
    view.answers.every((answer) => expected.has(answer.question) &&
      canonical(answer.value) === canonical(expected.get(answer.question)));
}

/* Every acknowledged version is there exactly once, and nothing else is. */
async function recountSession(review, session, found) {
  const { client } = session.reviewer;
  const rows = await review.readAll(client, `${session.path}/versions`);
  const known = new Map(session.versions.map((version) => [version.versionId, version]));
  found.versions += rows.length;
  for (const row of rows) {
    const version = known.get(row.versionId);
    if (version === undefined || version.command.key !== row.commandId) {
      found.strangers.push(row.versionId);
      continue;
    }
    known.delete(row.versionId);
    const view = await review.read(client, `${session.path}/versions/${row.versionId}`);
    if (view === null || !sameAnswers(view, version.command.holds)) found.differing.push(row.versionId);
    else found.answers += view.answers.length;
  }
  found.missing.push(...known.keys());
  const keys = rows.map((row) => row.commandId);
  found.doubled.push(...keys.filter((key, at) => keys.indexOf(key) !== at));
  const head = await review.read(client, session.path);
  if (session.base !== null && head?.versionId !== session.base) found.missing.push(`head of ${session.path}`);
  session.readState = head?.state ?? null;
}

/* A study's counts are the sum of its sessions, and no two commands made the same version of it. */
async function recountStudies(review, found) {
  const studies = await review.readAll(review.admin, `${review.path}/studies`);
  found.studies = studies.length;
  const byId = new Map(studies.map((study) => [study.id, study]));
  review.studies.forEach((id, at) => {
    const sessions = review.sessions.filter((session) => session.study === at && session.readState !== null);
    const completed = sessions.filter((session) => session.readState === 'completed').length;
    const places = sessions.filter((session) => session.readState !== 'withdrawn').length;
    const entry = byId.get(id)?.forms.find((form) => form.formId === review.form);
    const counts = entry ?? { places: 0, savedIncomplete: 0, completed: 0, qualifying: 0, members: [] };
    const fits = byId.has(id) && counts.places === places && counts.completed === completed &&
      counts.qualifying === completed && counts.savedIncomplete === places - completed &&
      counts.members.length === sessions.length;
    if (!fits) found.miscounted.push(id);
    const made = sessions.flatMap((session) => session.versions.map((version) => version.studyVersion));
    if (new Set(made).size !== made.length) found.overwritten.push(id);
  });
}

const wordsOf = (answers = []) => answers.flatMap(({ value }) => (typeof value === 'string' ? value.split(' ') : []));

/* Every word ever typed into a tab is saved, or in the draft, or in a copy that is kept; once. */
async function recountWords(review, tab, found) {
  const { path, reviewer: { client } } = tab.session;
  const saved = wordsOf((await review.read(client, path))?.answers);
  const draft = wordsOf((await review.read(client, `${path}/draft`))?.content?.answers);
  const copies = [];
  for (const { id } of await review.readAll(client, `${path}/draft/conflicts`)) {
    copies.push(...wordsOf((await review.read(client, `${path}/draft/conflicts/${id}`))?.content?.answers));
  }
  for (const word of tab.words) {
    found.words++;
    if (saved.includes(word)) found.wordsSaved++;
    else if (draft.includes(word)) found.wordsInDrafts++;
    else if (copies.includes(word)) found.wordsInCopies++;
    else found.lostWords.push(word);
    if (saved.indexOf(word) !== saved.lastIndexOf(word)) found.doubledWords.push(word);
  }
}

/* Every acknowledged command is sent once more: the same receipt, byte for byte. */
async function recountReceipts(review, found) {
  await each(review.commands.filter((command) => command.receipt !== null), async (command) => {
    await review.daemon.whenUp();
    const answer = await command.client.ask('POST', command.path, command);
    found.replays++;
    if (answer?.status !== 200 || !answer.replayed || !answer.bytes.equals(command.receipt)) {
      found.changedReceipts.push(command.key);
    }
  });
}

/* What was refused leaves nothing behind, what was answered late took effect once, and nothing is left open. */
function recountFates(review, found) {
  found.uncertain = review.commands.filter((command) => command.unanswered > 0).length;
  for (const command of review.commands) {
    if (command.firsts > 1 || command.differing) found.doubled.push(command.key);
    if (command.receipt === null && command.refusals.length === 0) found.open.push(command.key);
  }
}

/** What was found. Lists name what is wrong, and are empty when all is well. */
export async function recount(review) {
  const found = { versions: 0, answers: 0, studies: 0, replays: 0, uncertain: 0, strangers: [], missing: [],
    differing: [], doubled: [], miscounted: [], overwritten: [], changedReceipts: [], open: [],
    words: 0, wordsSaved: 0, wordsInDrafts: 0, wordsInCopies: 0, lostWords: [], doubledWords: [] };
  await recountReceipts(review, found);
  await each(review.sessions, (session) => recountSession(review, session, found));
  await recountStudies(review, found);
  recountFates(review, found);
  await each(review.tabs, (tab) => recountWords(review, tab, found));
  return found;
}

/** Every claim as { sentence, against }: what speaks against it is a list of ids, empty when the claim holds. */
export function claims(review, found) {
  const acknowledged = review.sessions.reduce((sum, session) => sum + session.versions.length, 0);
  const surplus = found.versions === acknowledged ? [] : [`${found.versions - acknowledged} too many`];
  const absent = found.studies === review.studies.length ? [] : [`${review.studies.length - found.studies} missing`];
  const versions = `${counted(acknowledged, 'version')} acknowledged, ${counted(found.versions, 'version')} found`;
  const receipts = counted(found.replays, 'command');
  const studies = counted(found.studies, 'study', 'studies');
  const words = `${counted(found.words, 'word')} in ${counted(review.tabs.length, 'tab')}, ` +
    `${found.wordsSaved.toLocaleString('en-GB')} saved, ${found.wordsInDrafts} in a draft, ${found.wordsInCopies} in a copy`;
  const claim = (sentence, ...against) => ({ sentence, against: against.flat() });
  return [
    claim(`Nothing is lost: ${versions}, each exactly once.`, found.missing, surplus),
    claim(`Every version holds the answers that were sent: ${counted(found.answers, 'answer')} compared.`,
      found.differing),
    claim('Nothing is there that nobody acknowledged; what was refused left no trace.', found.strangers, found.open),
    claim(`Nothing is doubled: ${counted(found.uncertain, 'command')} once went unanswered, and each took effect once.`,
      found.doubled),
    claim(`The counts of ${studies} are the sums of ${counted(review.sessions.length, 'session')}.`,
      found.miscounted, absent),
    claim('Nothing is overwritten: no two commands made the same version of a study.', found.overwritten),
    claim(`Every receipt is the first one: ${receipts} sent again, each answered byte for byte the same.`,
      found.changedReceipts),
    claim(`Nothing typed is lost, and nothing is there twice: ${words}.`, found.lostWords, found.doubledWords),
  ];
}
