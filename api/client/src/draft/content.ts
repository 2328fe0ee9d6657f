// What is typed: at most one change a place, against the session's newest version. Pure.
import type { AnswerChange, AnswerPlace, AnswerValue, AnswerView, DraftContent } from './shapes.js';

/** Where an answer stands: the question, and the elements above it from the top. */
export type Place = AnswerPlace;

export type Change =
  | { kind: 'answer'; answer: AnswerChange }
  | { kind: 'withdrawn'; place: AnswerPlace };

/** By the place's key. */
export type Content = ReadonlyMap<string, Change>;

/** The difference between two contents, as a PATCH says it. */
export type Difference = { content: DraftContent; reverted: AnswerPlace[] };

/** Two places are the same exactly when their keys are equal. */
export function keyOf(place: Place): string {
  return JSON.stringify([place.question, ...(place.path ?? []).flatMap(step => [step.question, step.element])]);
}

/** The place without what hangs on it. */
export function placeOf(place: Place): AnswerPlace {
  return place.path === undefined || place.path === null || place.path.length === 0
    ? { question: place.question }
    : { question: place.question, path: place.path.map(({ question, element }) => ({ question, element })) };
}

export function placeOfKey(key: string): AnswerPlace {
  const [question, ...rest] = JSON.parse(key) as string[];
  const path = Array.from({ length: rest.length / 2 }, (_, i) => ({ question: rest[2 * i]!, element: rest[2 * i + 1]! }));
  return path.length === 0 ? { question: question! } : { question: question!, path };
}

/** Equal as JSON, whatever the order of members. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => isEqual(item, b[i]));
  }
  const one = a as Record<string, unknown>, other = b as Record<string, unknown>, names = Object.keys(one);
  return names.length === Object.keys(other).length
    && names.every(name => Object.hasOwn(other, name) && isEqual(one[name], other[name]));
}

const notesOf = (notes: string | null | undefined) => notes ?? '';

/** Do these say the same of a place? What they were changed from does not matter. */
export function saysTheSame(a: Change | undefined, b: Change | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (a.kind === 'withdrawn' || b.kind === 'withdrawn') return a.kind === b.kind;
  return isEqual(a.answer.value, b.answer.value) && notesOf(a.answer.notes) === notesOf(b.answer.notes);
}

const isIdentical = (a: Change | undefined, b: Change | undefined) =>
  saysTheSame(a, b) && (a?.kind !== 'answer' || b?.kind !== 'answer' || a.answer.baseRevision === b.answer.baseRevision);

export function contentFrom(given: DraftContent | null | undefined): Map<string, Change> {
  const content = new Map<string, Change>();
  for (const answer of given?.answers ?? []) content.set(keyOf(answer), answered(answer, answer.value, answer.notes, answer.baseRevision));
  for (const place of given?.withdrawn ?? []) content.set(keyOf(place), { kind: 'withdrawn', place: placeOf(place) });
  return content;
}

export function answered(place: Place, value: AnswerValue, notes: string | null | undefined, baseRevision: string | null): Change {
  return { kind: 'answer', answer: { ...placeOf(place), value, ...(notesOf(notes) === '' ? {} : { notes: notes! }), baseRevision } };
}

export function contentTo(content: Content): DraftContent {
  const given = { answers: [] as AnswerChange[], withdrawn: [] as AnswerPlace[] };
  for (const change of content.values()) {
    if (change.kind === 'answer') given.answers.push(change.answer);
    else given.withdrawn.push(change.place);
  }
  return given;
}

/** The places where the contents differ. */
export function differing(from: Content, to: Content): string[] {
  const keys: string[] = [];
  for (const [key, change] of to) if (!isIdentical(from.get(key), change)) keys.push(key);
  for (const key of from.keys()) if (!to.has(key)) keys.push(key);
  return keys;
}

export function difference(from: Content, to: Content): Difference {
  const changed = new Map<string, Change>();
  const reverted: AnswerPlace[] = [];
  for (const key of differing(from, to)) {
    const change = to.get(key);
    if (change === undefined) reverted.push(placeOfKey(key));
    else changed.set(key, change);
  }
  return { content: contentTo(changed), reverted };
}

/** Those of the places that are in the content. */
export function pick(content: Content, keys: Iterable<string>): Map<string, Change> {
  const picked = new Map<string, Change>();
  for (const key of keys) {
    const change = content.get(key);
    if (change !== undefined) picked.set(key, change);
  }
  return picked;
}

/** Places of `lower` of which `upper` says something else. */
export function overwritten(lower: Content, upper: Content): Map<string, Change> {
  return new Map([...lower].filter(([key, change]) => upper.has(key) && !saysTheSame(change, upper.get(key))));
}

/** What an answer of a version says, as a change of it that changes nothing. */
export const changeOf = (view: AnswerView): Change => answered(view, view.value, view.notes, view.revision);
