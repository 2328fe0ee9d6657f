// A front end as small as can be: three text questions, and what the draft's state asks for.
import { Client, watchPage, type Copy, type Draft, type SaveResult } from '/client/index.js';

type Settings = { api: string; token: string; person: string; project: string; study: string; form: string; stage: string; hears: boolean };

const settings = JSON.parse(decodeURIComponent(location.hash.slice(1))) as Settings;
const questions = ['dose', 'blinding', 'remarks'];
const element = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;

function show(draft: Draft): void {
  const { status, canEdit, unsent, versionId } = draft.state;
  for (const question of questions) {
    const input = element<HTMLInputElement>(question);
    input.readOnly = !canEdit;
    const value = draft.shown({ question })?.value ?? '';
    if (document.activeElement !== input || !canEdit) input.value = String(value);
  }
  Object.assign(document.body.dataset, { status, unsent: String(unsent), version: versionId ?? '' });
}

async function showCopies(draft: Draft): Promise<void> {
  const listed = await draft.copies.list();
  const items = listed.outcome !== 'Done' ? [] : await Promise.all(listed.value.map(copy => itemOf(draft, copy)));
  element('copies').replaceChildren(...items);
  document.body.dataset['copies'] = String(items.length);
}

async function itemOf(draft: Draft, copy: Copy): Promise<HTMLElement> {
  const read = await draft.copies.read(copy);
  const item = document.createElement('li'), adopt = document.createElement('button');
  item.textContent = JSON.stringify(read.outcome === 'Done' ? read.value?.answers.map(answer => [answer.question, answer.value]) : null);
  item.dataset['where'] = copy.where;
  adopt.textContent = 'Adopt';
  adopt.onclick = () => void draft.copies.adopt(copy).then(() => refreshed(draft));
  item.append(adopt);
  return item;
}

async function refreshed(draft: Draft): Promise<void> {
  (document.activeElement as HTMLElement | null)?.blur();
  show(draft);
  await showCopies(draft);
}

/** Answers that changed since they were typed from: the person has to say which. */
function askWhich(draft: Draft, result: SaveResult): void {
  const stale = result.outcome === 'StaleBase' ? result.answers ?? [] : [];
  const mine = element('mine');
  mine.hidden = stale.length === 0;
  mine.dataset['theirs'] = JSON.stringify(stale.map(answer => answer.current?.value));
  mine.onclick = () => {
    for (const answer of stale) draft.settle(answer, 'mine');
    mine.hidden = true;
  };
}

async function begin(): Promise<void> {
  const { api, token, person, project, study, form, stage, hears } = settings;
  const client = new Client({ baseUrl: api, token: () => token, person, ...(hears ? {} : { channel: null }) });
  const opened = await client.openDraft({ project, study, form, stage, formVersion: 1, debounceMs: 100 });
  if (opened.outcome !== 'Done') throw new Error(opened.outcome);
  const { draft } = opened;
  watchPage(draft);
  draft.subscribe(() => show(draft));
  for (const question of questions) {
    const input = element<HTMLInputElement>(question);
    input.oninput = () => input.value === '' ? draft.withdraw({ question }) : draft.answer({ question }, input.value);
  }
  element('save').onclick = () => void draft.save().then(result => {
    document.body.dataset['saved'] = result.outcome;
    askWhich(draft, result);
    return refreshed(draft);
  });
  element('take-over').onclick = () => void draft.takeOver().then(() => refreshed(draft));
  element('reload').onclick = () => void draft.reload().then(() => refreshed(draft));
  document.body.dataset['tab'] = (await client.tab).id;
  await refreshed(draft);
}

begin().catch((error: Error) => { document.body.dataset['status'] = `failed: ${error.message}`; });
