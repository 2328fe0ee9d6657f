// Reads: what was read before is asked for again by its ETag, and lists are walked to their end.
import { attempt, type Patience } from './attempts.js';
import type { AnswerOf, AnyProblem, OperationOf, PathOf, ProblemOf, RequestOf } from './types.js';
import { pathOf, type Wire } from './wire.js';

/** `fresh`: false when the service said that nothing has changed, and this is what it answered then. */
export type Read<T> = { outcome: 'Done'; value: T; etag: string | null; fresh: boolean };

export type ReadResult<T, P = AnyProblem> =
  | Read<T>
  | P & { retryAfterMs: number | null }
  | { outcome: 'Unanswered'; cause: unknown }
  | { outcome: 'Unexpected'; status: number; text: string };

/** Thrown where there is no place for a result: by the walk over a list. `result` says why, by its `outcome`. */
export class ReadFailed extends Error {
  override readonly name = 'ReadFailed';

  constructor(readonly result: Exclude<ReadResult<unknown>, Read<unknown>>) {
    super('detail' in result ? result.detail : result.outcome);
  }
}

type Remembered = { etag: string; value: unknown; immutable: boolean };
type PageOf<T> = T extends { items: (infer I)[] } ? I : never;

export class Reads {
  readonly #wire: Wire;
  readonly #most: number;
  readonly #remembered = new Map<string, Remembered>(); // the one used last is last

  /** most: how many answers are remembered. */
  constructor(wire: Wire, most = 200) {
    this.#wire = wire;
    this.#most = most;
  }

  get<P extends PathOf<'get'>>(
    template: P, request: RequestOf<OperationOf<P, 'get'>>, patience: Patience = {},
  ): Promise<ReadResult<AnswerOf<OperationOf<P, 'get'>>, ProblemOf<OperationOf<P, 'get'>>>> {
    const { path, query } = request as { path?: Record<string, unknown>; query?: Record<string, unknown> };
    return this.getAs(pathOf(template, path, query), patience);
  }

  /** Read anything. The caller says what comes back, and must not change it: the next read may be answered with it. */
  async getAs<T, P = AnyProblem>(path: string, patience: Patience = {}): Promise<ReadResult<T, P>> {
    const again = ({ value, etag }: Remembered): Read<T> => ({ outcome: 'Done', value: value as T, etag, fresh: false });
    const known = this.#remembered.get(path);
    if (known !== undefined) this.#remember(path, known); // used last
    if (known?.immutable) return again(known);
    const headers: Record<string, string> = known === undefined ? {} : { 'If-None-Match': known.etag };
    const fate = await attempt(this.#wire, { method: 'GET', path, headers }, patience);
    switch (fate.kind) {
      case 'success': {
        if (fate.answer.status === 304 && known !== undefined) return again(known);
        const etag = fate.answer.headers.get('etag');
        const immutable = /\bimmutable\b/.test(fate.answer.headers.get('cache-control') ?? '');
        if (etag !== null) this.#remember(path, { etag, value: fate.answer.json, immutable });
        return { outcome: 'Done', value: fate.answer.json as T, etag, fresh: true };
      }
      case 'refused':
        // What one may not see any more is not kept either.
        if (!fate.problem.retryable) this.#remembered.delete(path);
        return { ...fate.problem, retryAfterMs: fate.retryAfterMs } as unknown as P & { retryAfterMs: number | null };
      case 'unexpected':
        return { outcome: 'Unexpected', status: fate.answer.status, text: fate.answer.text };
      case 'unanswered':
        return { outcome: 'Unanswered', cause: fate.cause };
    }
  }

  /** Every item of a list, page after page. Throws ReadFailed. */
  async *each<P extends PathOf<'get'>>(
    template: P, request: RequestOf<OperationOf<P, 'get'>>, patience: Patience = {},
  ): AsyncGenerator<PageOf<AnswerOf<OperationOf<P, 'get'>>>, void, undefined> {
    const { path, query } = request as { path?: Record<string, unknown>; query?: Record<string, unknown> };
    yield* this.eachAs(pathOf(template, path, query), patience);
  }

  async *eachAs<T>(path: string, patience: Patience = {}): AsyncGenerator<T, void, undefined> {
    for (let cursor: string | null = null; ;) {
      const at: string = cursor === null ? path : `${path}${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`;
      const page: ReadResult<{ items: T[]; next: string | null }> = await this.getAs(at, patience);
      if (page.outcome !== 'Done') throw new ReadFailed(page);
      const { items, next } = page.value;
      yield* items;
      if (next === null) return;
      cursor = next;
    }
  }

  /** Forget everything: another person signed in. */
  clear(): void {
    this.#remembered.clear();
  }

  #remember(path: string, what: Remembered): void {
    this.#remembered.delete(path);
    this.#remembered.set(path, what);
    if (this.#remembered.size > this.#most) this.#remembered.delete(this.#remembered.keys().next().value!);
  }
}
