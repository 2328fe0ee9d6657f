// The service's rules for one reviewer's session, as the design states them, in memory: written apart from the daemon and
// from the client, to test the client against. Every request is held against the description.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Schemas } from '#client';
import { operationOf, requestFits } from '../../http/support/contract.js';
import type { FakeTimers } from './time.js';

type Change = Schemas['AnswerChangeInput'];
type Place = Schemas['AnswerPlaceInput'];
export type Content = Map<string, { answer?: Change; place: Place }>;
type Reply = { status: number; body?: unknown; headers?: Record<string, string> };
type Draft = {
  etag: number; baseVersion: string | null; formVersion: number; holder: string | null; writeSeq: number; digest: string;
  leaseGeneration: number; until: number; content: Content | null;
};
type Copy = { id: string; reason: string; baseVersion: string | null; holder: string | null; keptAt: number; content: Content; state: 'kept' | 'settled' };

const LEASE_MS = 90_000;
const MOST_COPIES = 8;

export const keyOf = (place: Place) => JSON.stringify([place.question, place.path ?? []]);

export function contentOf(given: Schemas['DraftContentInput']): Content {
  const content: Content = new Map();
  for (const answer of given.answers) content.set(keyOf(answer), { answer, place: answer });
  for (const place of given.withdrawn ?? []) content.set(keyOf(place), { place });
  return content;
}

export const shownContent = (content: Content | null) => content && {
  answers: [...content.values()].flatMap(({ answer }) => answer ?? []),
  withdrawn: [...content.values()].filter(({ answer }) => answer === undefined).map(({ place }) => ({ question: place.question, ...(place.path ? { path: place.path } : {}) })),
};

const says = (one: { answer?: Change } | undefined) => JSON.stringify([one?.answer?.value, one?.answer?.notes ?? '', one !== undefined]);

export class Service {
  readonly base = '/v1/projects/p/studies/s/forms/f/session';
  versionId: string | null = null;
  versionSeq = 0;
  state: string | null = null;
  answers = new Map<string, Schemas['AnswerView']>();
  heads = new Map<string, Schemas['AnswerView']>();
  draft: Draft | null = null;
  copies: Copy[] = [];
  /** The reviewer is no member any more. */
  isRevoked = false;
  /** Every value that was ever in a version. */
  readonly history: string[] = [];
  /** What the commands that took effect were, in order. */
  readonly done: string[] = [];
  /** Every request there was. */
  readonly seen: { method: string; path: string; key: string | null; body: any }[] = [];
  readonly #ledger = new Map<string, { digest: string; reply: Reply }>();

  constructor(readonly timers: FakeTimers) {}

  answer(method: string, path: string, headers: Headers, text: string | undefined): Reply {
    const body: any = text === undefined ? undefined : JSON.parse(text);
    const key = headers.get('idempotency-key');
    this.seen.push({ method, path: path.replace(this.base, ''), key, body });
    if (this.isRevoked) return this.problem(404, 'NotFound');
    const operation = operationOf(method, path);
    assert.ok(operation, `${method} ${path} is not described`);
    if (operation.requestBody === undefined) assert.equal(text, undefined, `${method} ${path} takes no body`);
    else assert.ok(requestFits(operation, body), `not described: ${method} ${path} ${text}`);
    const at = path.replace(this.base, '');
    if (method === 'GET') return this.#get(at);
    if (at === '/draft' && method !== 'DELETE') {
      assert.equal(key, null, 'an autosave has no command id');
      return this.#autosave(method, headers, body);
    }
    if (at === '/draft/lease') return this.#lease(body);
    assert.match(key ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-4/, `${method} ${at} needs a command id`);
    return this.#command(`${method} ${at}`, key!, text ?? '', body);
  }

  #command(name: string, key: string, text: string, body: any): Reply {
    const digest = `${name} ${text}`, known = this.#ledger.get(key);
    if (known !== undefined && known.digest !== digest) return this.problem(409, 'CommandDigestMismatch');
    if (known !== undefined) return { ...known.reply, headers: { 'idempotency-replayed': 'true' } };
    const reply = this.#run(name, body);
    if (reply.status !== 200) return reply;
    (reply.body as any).commandId = key;
    this.#ledger.set(key, { digest, reply });
    this.done.push(name);
    return reply;
  }

  #run(name: string, body: any): Reply {
    const [, id, what] = /^POST \/draft\/conflicts\/([^/]+)\/(\w+)$/.exec(name) ?? [];
    if (id !== undefined) return what === 'adopt' ? this.#adopt(id, body) : this.#discardCopy(id);
    if (name === 'POST /draft/takeover') return this.#takeOver(body);
    if (name === 'DELETE /draft') return this.#discard(body);
    return this.#submit(name.slice('POST /'.length), body);
  }

  /* Reads. */

  #get(at: string): Reply {
    if (at === '') return this.#session();
    if (at === '/draft') return this.draft === null ? this.problem(404, 'NotFound') : { status: 200, body: { ...this.#receipt(), formVersion: this.draft.formVersion || null, lastActivityAt: null, content: shownContent(this.draft.content) } };
    if (at.startsWith('/draft/conflicts/')) {
      const copy = this.copies.find(one => at.endsWith(one.id));
      return copy === undefined ? this.problem(404, 'NotFound') : { status: 200, body: { ...this.#copyView(copy), content: shownContent(copy.content) } };
    }
    return { status: 200, body: { items: this.kept.map(copy => this.#copyView(copy)), next: null } };
  }

  #session(): Reply {
    if (this.versionId === null && this.draft === null) return this.problem(404, 'NotFound');
    return {
      status: 200, body: {
        sessionId: this.base, versionId: this.versionId, versionSeq: this.versionSeq, state: this.state, formVersion: this.versionId && 1,
        stamp: '1', draftEtag: this.draft?.etag ?? null, answers: [...this.answers.values()],
      },
    };
  }

  get kept(): Copy[] {
    return this.copies.filter(copy => copy.state === 'kept');
  }

  #copyView({ id, reason, baseVersion, holder, keptAt, content }: Copy) {
    return { id, state: 'kept', reason, baseVersion, formVersion: 1, holder, places: content.size, keptAt: new Date(keptAt).toISOString() };
  }

  #members() {
    const { etag, writeSeq, holder, leaseGeneration } = this.draft!;
    return { etag, writeSeq, holder, leaseGeneration, leaseExpiresAt: this.draft!.until === 0 ? null : new Date(this.draft!.until).toISOString() };
  }

  #receipt() {
    return { sessionId: this.base, stamp: '1', baseVersion: this.draft!.baseVersion, ...this.#members() };
  }

  problem(status: number, outcome: string, members: object = {}, retryAfter?: number): Reply {
    return {
      status, body: { type: `urn:evidenced:problem:${outcome}`, title: outcome, status, detail: `${outcome}.`, outcome, retryable: retryAfter !== undefined, ...members },
      headers: { 'content-type': 'application/problem+json', ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }) },
    };
  }

  /* The draft. */

  #isHeld(holder: string): boolean {
    const { draft } = this;
    return draft !== null && draft.holder !== null && draft.holder !== holder && draft.until > this.timers.wall();
  }

  #hold(holder: string): void {
    const draft = this.draft!;
    if (draft.holder !== holder) Object.assign(draft, { holder, leaseGeneration: draft.leaseGeneration + 1, writeSeq: 0, digest: '' });
    draft.until = this.timers.wall() + LEASE_MS;
  }

  /** Keeps it, or null when there is no room. Empty content is kept as well. */
  #keep(content: Content, reason: string, baseVersion: string | null, holder: string | null, always = false): string | null {
    const same = this.copies.find(copy => JSON.stringify([...copy.content]) === JSON.stringify([...content]));
    if (same !== undefined) {
      if (same.state === 'settled') Object.assign(same, { state: 'kept', reason, baseVersion, holder, keptAt: this.timers.wall() });
      return same.id;
    }
    if (!always && this.kept.length >= MOST_COPIES) return null;
    const copy: Copy = { id: randomUUID(), reason, baseVersion, holder, keptAt: this.timers.wall(), content, state: 'kept' };
    this.copies.push(copy);
    return copy.id;
  }

  #refuseKeeping(status: number, outcome: string, reason: string, body: any, members: object = {}): Reply {
    const copyId = this.#keep(contentOf(body.content), reason, body.baseVersion, body.holder);
    if (copyId === null) return this.problem(409, 'SizeLimitExceeded', { limit: 'draftCopies', ...this.#members() });
    return this.problem(status, outcome, { copyId, ...this.#members(), ...members });
  }

  #autosave(method: string, headers: Headers, body: any): Reply {
    const etag = Number(/^"(\d+)"$/.exec(headers.get('if-match') ?? '')?.[1] ?? 0), first = headers.get('if-none-match') === '*';
    if (!headers.has('if-match') && !headers.has('if-none-match')) return this.problem(428, 'PreconditionRequired');
    const digest = JSON.stringify([method, body.content, body.reverted]);
    if (this.draft === null) {
      if (method === 'PATCH') return this.problem(404, 'NotFound');
      if (body.baseVersion !== this.versionId) return this.problem(409, 'StaleBase', { base: 'session', current: this.versionId });
      if (!first) return this.problem(412, 'PreconditionFailed');
      this.draft = { etag: 0, baseVersion: this.versionId, formVersion: 0, holder: null, writeSeq: 0, digest: '', leaseGeneration: 0, until: 0, content: null };
    } else {
      const refused = this.#judge(method, body, digest, first ? 0 : etag);
      if (refused !== null) return refused;
    }
    this.#store(method, body, digest);
    return { status: 200, body: this.#receipt() };
  }

  /** Holder, base, sequence, etag: in this order. */
  #judge(method: string, body: any, digest: string, etag: number): Reply | null {
    const draft = this.draft!;
    if (this.#isHeld(body.holder)) return this.#refuseKeeping(409, 'DraftLeaseHeld', 'leaseHeld', body);
    if (draft.baseVersion !== body.baseVersion) return this.#refuseKeeping(409, 'StaleAutosave', 'staleAutosave', body, { current: draft.baseVersion });
    if (draft.holder === body.holder) {
      if (draft.writeSeq === body.writeSeq && draft.digest === digest) return { status: 200, body: this.#receipt() };
      if (draft.writeSeq === body.writeSeq) return this.#refuseKeeping(409, 'StaleBase', 'sequence', body, { base: 'draftSequence' });
      const follows = body.writeSeq === draft.writeSeq + 1 || (method === 'PUT' && body.writeSeq > draft.writeSeq);
      if (!follows) return this.problem(409, 'StaleBase', { base: 'draftSequence', copyId: null, ...this.#members() });
    }
    return draft.etag === etag ? null : this.#refuseKeeping(412, 'PreconditionFailed', 'precondition', body, { current: draft.baseVersion });
  }

  #store(method: string, body: any, digest: string): void {
    const draft = this.draft!;
    this.#hold(body.holder);
    draft.etag++;
    draft.writeSeq = body.writeSeq;
    draft.digest = digest;
    if (method === 'PUT') draft.formVersion = body.formVersion;
    const content: Content = method === 'PUT' ? new Map() : new Map(draft.content ?? []);
    for (const [key, change] of contentOf(body.content)) content.set(key, change);
    for (const place of body.reverted ?? []) content.delete(keyOf(place));
    draft.content = content;
  }

  #lease(body: any): Reply {
    if (this.draft === null) return this.problem(404, 'NotFound');
    if (this.#isHeld(body.holder)) return this.problem(409, 'DraftLeaseHeld', { copyId: null, ...this.#members() });
    if (this.draft.holder !== body.holder && body.etag !== this.draft.etag) return this.problem(409, 'StaleBase', { base: 'draft', ...this.#members() });
    this.#hold(body.holder);
    return { status: 200, body: this.#receipt() };
  }

  #takeOver(body: any): Reply {
    if (this.draft === null) return this.problem(404, 'NotFound');
    if (body.leaseGeneration !== this.draft.leaseGeneration) return this.problem(409, 'StaleBase', { base: 'draftLease', ...this.#members() });
    this.#hold(body.holder);
    return { status: 200, body: this.#receipt() };
  }

  /** An administrator's. */
  release(): void {
    Object.assign(this.draft!, { holder: null, leaseGeneration: this.draft!.leaseGeneration + 1, until: 0, writeSeq: 0, digest: '' });
  }

  #refuseDraft(body: any): Reply | null {
    if (this.draft === null) return this.problem(404, 'NotFound');
    if (this.#isHeld(body.holder)) return this.problem(409, 'DraftLeaseHeld', { copyId: null, ...this.#members() });
    return body.etag === this.draft.etag ? null : this.problem(409, 'StaleBase', { base: 'draft', ...this.#members() });
  }

  #discard(body: any): Reply {
    const refused = this.#refuseDraft(body);
    if (refused !== null) return refused;
    Object.assign(this.draft!, { content: null, etag: this.draft!.etag + 1 });
    return { status: 200, body: this.#receipt() };
  }

  #adopt(id: string, body: any): Reply {
    const copy = this.kept.find(one => one.id === id);
    if (copy === undefined) return this.problem(404, 'NotFound');
    const refused = this.#refuseDraft(body);
    if (refused !== null) return refused;
    const draft = this.draft!, before = draft.content ?? new Map();
    const clash = [...copy.content].some(([key, change]) => before.has(key) && says(before.get(key)) !== says(change));
    if (clash) this.#keep(before, 'leftOut', draft.baseVersion, draft.holder, true);
    this.#hold(body.holder);
    draft.content = new Map([...before, ...copy.content]);
    draft.etag++;
    copy.state = 'settled';
    return { status: 200, body: this.#receipt() };
  }

  #discardCopy(id: string): Reply {
    const copy = this.kept.find(one => one.id === id);
    if (copy === undefined) return this.problem(404, 'NotFound');
    copy.state = 'settled';
    return { status: 200, body: { ...this.#receipt(), copyId: id } };
  }

  /* Save, Complete, Withdraw. */

  /** An answer another form changed since. */
  changeElsewhere(question: string, value: string): string {
    const view = { question, value, revision: randomUUID() } as Schemas['AnswerView'];
    this.heads.set(keyOf({ question }), view);
    return view.revision;
  }

  #submit(name: string, body: any): Reply {
    if (body.baseVersion !== this.versionId) return this.problem(409, 'StaleBase', { base: 'session', declared: body.baseVersion, current: this.versionId });
    const refused = this.#refuseDraftBase(body);
    if (refused !== null) return refused;
    const stale = name === 'fix' ? [] : this.#staleAnswers(body);
    if (stale.length > 0) return this.problem(409, 'StaleBase', { base: 'answers', answers: stale });
    const isWhole = name === 'save' || name === 'complete';
    const content = isWhole ? contentOf({ answers: body.answers, withdrawn: body.withdrawn ?? [] }) : new Map();
    const left = [...this.draft?.content ?? []].filter(([key]) => !content.has(key));
    if (left.length > 0) this.#keep(this.draft!.content!, 'leftOut', this.versionId, this.draft!.holder, true);
    const answers = this.#apply(content);
    for (const place of name === 'fix' ? body.answers as Place[] : []) this.answers.set(keyOf(place), this.heads.get(keyOf(place))!);
    this.versionId = randomUUID();
    this.versionSeq++;
    this.state = name === 'save' ? 'savedIncomplete' : name === 'complete' ? 'completed' : name === 'withdraw' ? 'withdrawn' : 'savedIncomplete';
    this.draft ??= { etag: 0, baseVersion: null, formVersion: 0, holder: null, writeSeq: 0, digest: '', leaseGeneration: 0, until: 0, content: null };
    Object.assign(this.draft, { baseVersion: this.versionId, content: null, etag: this.draft.etag + 1 });
    return {
      status: 200, body: {
        commandId: '', stamp: '1', sessionId: this.base, versionId: this.versionId, versionSeq: this.versionSeq, state: this.state, formVersion: body.formVersion ?? 1,
        studyVersion: 1, draftEtag: this.draft.etag, answerCount: this.answers.size, answers,
      },
    };
  }

  #refuseDraftBase(body: any): Reply | null {
    const { draft } = this, declared = body.draft;
    if (declared === null) {
      if (draft === null || draft.content === null) return null;
      return draft.until > this.timers.wall() ? this.#refuseKeeping(409, 'DraftLeaseHeld', 'leaseHeld', { ...body, holder: null, content: { answers: body.answers, withdrawn: body.withdrawn } })
        : this.problem(409, 'StaleBase', { base: 'draft', ...this.#members() });
    }
    const same = draft !== null && draft.etag === declared.etag && draft.holder === declared.holder && draft.writeSeq === declared.writeSeq;
    return same ? null : this.problem(409, 'StaleBase', { base: 'draft', ...(draft === null ? {} : this.#members()) });
  }

  #staleAnswers(body: any): Schemas['StaleAnswer'][] {
    return ((body.answers ?? []) as Change[]).flatMap(answer => {
      const head = this.heads.get(keyOf(answer));
      const same = head !== undefined && JSON.stringify(head.value) === JSON.stringify(answer.value) && (head.notes ?? '') === (answer.notes ?? '');
      if (same || (head?.revision ?? null) === answer.baseRevision) return [];
      return [{ question: answer.question, declared: { baseRevision: answer.baseRevision, value: answer.value }, current: head === undefined ? null : { revision: head.revision, value: head.value } } as Schemas['StaleAnswer']];
    });
  }

  #apply(content: Content): Schemas['AnswerReceipt'][] {
    const receipts: Schemas['AnswerReceipt'][] = [];
    for (const [key, { answer }] of content) {
      if (answer === undefined) {
        this.answers.delete(key);
        continue;
      }
      const head = this.heads.get(key);
      const same = head !== undefined && JSON.stringify(head.value) === JSON.stringify(answer.value) && (head.notes ?? '') === (answer.notes ?? '');
      const view = same ? head : { question: answer.question, ...(answer.path ? { path: answer.path } : {}), value: answer.value, revision: randomUUID(), ...(answer.notes ? { notes: answer.notes } : {}) } as Schemas['AnswerView'];
      this.heads.set(key, view);
      this.history.push(JSON.stringify(view.value));
      this.answers.set(key, view);
      receipts.push({ question: answer.question, ...(answer.path ? { path: answer.path } : {}), revision: view.revision });
    }
    return receipts;
  }
}
