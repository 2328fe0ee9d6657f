// The draft's endpoints of one session, each call as it is: what to do with the answers is for others to decide.
import { attempt, type Patience } from '../attempts.js';
import type { CommandOptions, Commands, Result } from '../commands.js';
import type { AnyProblem } from '../types.js';
import { pathOf, type Exchange, type Wire } from '../wire.js';
import type { Write } from './desk.js';
import type { Fetched, ReadFailure, SaveProblem } from './outcomes.js';
import type {
  DraftCopyPage, DraftCopyView, DraftReceipt, DraftView, FixRequest, SaveRequest, SessionReceipt, SessionView,
  UpgradeRequest, WithdrawRequest,
} from './shapes.js';

export type SessionPath = { project: string; study: string; form: string };

export type SubmitBody = SaveRequest | FixRequest | UpgradeRequest | WithdrawRequest;

/** Session and draft as they are together; null: there is none. missing: the service's word for that there is no draft. */
export type Both = { session: SessionView | null; draft: DraftView | null; missing: AnyProblem | null };

const TRIES = 4; // to read two records that belong together

export class DraftServer {
  readonly base: string;
  readonly #wire: Wire;
  readonly #commands: Commands;
  readonly #random: () => number;

  constructor(wire: Wire, commands: Commands, random: () => number, path: SessionPath) {
    this.base = pathOf('/v1/projects/{project}/studies/{study}/forms/{form}/session', path);
    this.#wire = wire;
    this.#commands = commands;
    this.#random = random;
  }

  /** The name under which Save and its like are kept: of one session one at a time. */
  get intent(): string {
    return `session ${this.base}`;
  }

  async read(patience: Patience): Promise<Fetched<Both>> {
    for (let tried = 1; ; tried++) {
      const draft = await this.#get<DraftView>(`${this.base}/draft`, patience);
      if (draft.outcome !== 'Done') return draft;
      const session = await this.#get<SessionView>(this.base, patience);
      if (session.outcome !== 'Done') return session;
      const value: Both = { session: session.value, draft: draft.value, missing: draft.missing };
      if (tried === TRIES || (value.draft?.baseVersion ?? null) === (value.session?.versionId ?? null) || value.draft === null) {
        return { outcome: 'Done', value };
      }
    }
  }

  /** One attempt: whoever calls repeats it, the same. */
  write(write: Write, signal: AbortSignal): Promise<Exchange> {
    const { method, headers, body } = write;
    return this.#wire.exchange({ method, path: `${this.base}/draft`, headers, body, keepalive: true }, signal);
  }

  /** Renew the lease; one that lapsed is taken when `etag` is the current one. */
  lease(holder: string, etag: number, signal: AbortSignal): Promise<Exchange> {
    return this.#wire.exchange({ method: 'POST', path: `${this.base}/draft/lease`, body: JSON.stringify({ holder, etag }) }, signal);
  }

  takeOver(holder: string, leaseGeneration: number, options: CommandOptions): Promise<Result<DraftReceipt>> {
    return this.#post('draft/takeover', { holder, leaseGeneration }, options);
  }

  discard(holder: string, etag: number, options: CommandOptions): Promise<Result<DraftReceipt>> {
    return this.#send('DELETE', 'draft', { holder, etag }, options);
  }

  /** What makes a version. */
  submit(name: string, body: SubmitBody, options: CommandOptions): Promise<Result<SessionReceipt, SaveProblem>> {
    return this.#post(name, body, { ...options, intent: this.intent });
  }

  async copies(patience: Patience): Promise<Fetched<DraftCopyView[]>> {
    const copies: DraftCopyView[] = [];
    for (let cursor = ''; ;) {
      const page = await this.#get<DraftCopyPage>(`${this.base}/draft/conflicts${cursor}`, patience);
      if (page.outcome !== 'Done') return page;
      copies.push(...page.value?.items ?? []);
      const next = page.value?.next ?? null;
      if (next === null) return { outcome: 'Done', value: copies };
      cursor = `?cursor=${encodeURIComponent(next)}`;
    }
  }

  copy(id: string, patience: Patience): Promise<Fetched<DraftCopyView | null>> {
    return this.#get<DraftCopyView>(`${this.base}/draft/conflicts/${id}`, patience);
  }

  adopt(id: string, holder: string, etag: number, options: CommandOptions): Promise<Result<DraftReceipt>> {
    return this.#post(`draft/conflicts/${id}/adopt`, { holder, etag }, options);
  }

  discardCopy(id: string, options: CommandOptions): Promise<Result<DraftReceipt>> {
    return this.#send('POST', `draft/conflicts/${id}/discard`, null, options);
  }

  #post<T, P>(name: string, body: unknown, options: CommandOptions): Promise<Result<T, P>> {
    return this.#send('POST', name, body, options);
  }

  #send<T, P>(method: string, name: string, body: unknown, options: CommandOptions): Promise<Result<T, P>> {
    const text = body === null ? null : JSON.stringify(body);
    return this.#commands.sendAs(method, `${this.base}/${name}`, text, { random: this.#random, ...options });
  }

  /** Null when it is not there. */
  async #get<T>(path: string, patience: Patience): Promise<ReadFailure | { outcome: 'Done'; value: T | null; missing: AnyProblem | null }> {
    const fate = await attempt(this.#wire, { method: 'GET', path }, { random: this.#random, ...patience });
    switch (fate.kind) {
      case 'success': return { outcome: 'Done', value: fate.answer.json as T, missing: null };
      case 'refused':
        if (fate.problem.outcome === 'NotFound') return { outcome: 'Done', value: null, missing: fate.problem };
        return { ...fate.problem, retryAfterMs: fate.retryAfterMs };
      case 'unexpected': return { outcome: 'Unexpected', status: fate.answer.status, text: fate.answer.text };
      case 'unanswered': return { outcome: 'Unanswered', cause: fate.cause };
    }
  }
}
