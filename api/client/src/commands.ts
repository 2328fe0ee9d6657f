// Commands: each thing a person does takes effect once, whatever the network does meanwhile.
//
// The id of a command (its `Idempotency-Key`) is made once for each intent and goes with every attempt. With an `intent`
// named, id and body are kept until the fate is known, so that a reload goes on with the same.
import { attempt, type Fate, type Patience } from './attempts.js';
import { randomUuid, type TextStore } from './environment.js';
import type { AnswerOf, AnyProblem, Method, OperationOf, PathOf, ProblemOf, RequestOf } from './types.js';
import { pathOf, type Answer, type Wire } from './wire.js';

/** It took effect. `replayed`: already at an earlier attempt, whose receipt this is. */
export type Done<T> = { outcome: 'Done'; commandId: string; receipt: T; replayed: boolean; answer: Answer };

/** A refusal, told apart by `outcome`. `retryAfterMs`: when it may be tried again; null, not as it is. */
export type Refusal<P> = P & { commandId: string; retryAfterMs: number | null };

/** No answer yet: it may have taken effect, or may still. Sending the same intent again finds out; so does `resume`. */
export type Unanswered = { outcome: 'Unanswered'; commandId: string; cause: unknown };

/** Something between here and the service answered in its place. */
export type Unexpected = { outcome: 'Unexpected'; commandId: string; status: number; text: string };

export type Result<T, P = AnyProblem> = Done<T> | Refusal<P> | Unanswered | Unexpected;

export type CommandOptions = Patience & {
  /**
   * A name for what the person wants, the same until they want something else: `save <session>`. What is sent under it
   * is kept until its fate is known. A new body under it is a new intent: the one before is settled first.
   */
  intent?: string;
  headers?: Record<string, string>;
  /** Of a body that is a file: what tells it from another (name, size, date). */
  mark?: string;
  /** How long one attempt may take, for what is large. */
  attemptMs?: number;
  /** Called with the command's id before anything is sent. */
  onId?: (commandId: string) => void;
};

type Body = string | Blob | ArrayBuffer;

/**
 * What is kept of a command whose fate is not known. A body that is a file is not kept, only its `mark`: then the
 * caller must give the file again.
 */
export type Pending = {
  commandId: string;
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | null;
  mark: string | null;
};

type Envelope = Omit<Pending, 'commandId' | 'body'> & { body: Body | null };

const nameOf = (intent: string) => `command:${intent}`;

export class Commands {
  readonly #wire: Wire;
  readonly #store: TextStore;
  readonly #uuid: () => string;
  readonly #running = new Map<string, Promise<unknown>>();
  readonly #open = new Map<string, Pending>(); // as in the store, which may have no room

  constructor(wire: Wire, store: TextStore, uuid: () => string = randomUuid) {
    this.#wire = wire;
    this.#store = store;
    this.#uuid = uuid;
  }

  /** Send a command of the description: `send('post', '/v1/projects/{project}/members', { path, body })`. */
  send<M extends Exclude<Method, 'get'>, P extends PathOf<M>>(
    method: M, template: P, request: RequestOf<OperationOf<P, M>>, options: CommandOptions = {},
  ): Promise<Result<AnswerOf<OperationOf<P, M>>, ProblemOf<OperationOf<P, M>>>> {
    const { path, query, body } = request as { path?: Record<string, unknown>; query?: Record<string, unknown>; body?: unknown };
    return this.sendAs(method, pathOf(template, path, query), body === undefined ? null : JSON.stringify(body), options);
  }

  /** Send anything under a command id. The caller says what comes back. */
  async sendAs<T, P = AnyProblem>(method: string, path: string, body: Body | null, options: CommandOptions = {}): Promise<Result<T, P>> {
    const envelope: Envelope = { method: method.toUpperCase(), path, headers: options.headers ?? {}, body, mark: options.mark ?? null };
    const { intent } = options;
    if (intent === undefined) return (await this.#run(this.#uuid(), envelope, options)).result as Result<T, P>;
    return await this.#inTurn(intent, () => this.#runIntent(intent, envelope, options)) as Result<T, P>;
  }

  /** What is kept under this intent: a command whose fate is not known. */
  pending(intent: string): Pending | null {
    const open = this.#open.get(intent);
    if (open !== undefined) return open;
    const text = this.#store.get(nameOf(intent));
    if (text === null) return null;
    try {
      return JSON.parse(text) as Pending;
    } catch {
      this.forget(intent);
      return null;
    }
  }

  /** The intents whose fate is not known. */
  intents(): string[] {
    const stored = this.#store.names().filter(name => name.startsWith('command:')).map(name => name.slice('command:'.length));
    return [...new Set([...this.#open.keys(), ...stored])];
  }

  /** Find out what became of a kept command by sending it again with its id; null when none is kept, or its file is not. */
  async resume<T, P = AnyProblem>(intent: string, patience: Patience = {}): Promise<Result<T, P> | null> {
    return await this.#inTurn(intent, async () => {
      const pending = this.pending(intent);
      if (pending === null || pending.mark !== null) return null;
      return this.#attempt(intent, pending.commandId, pending, { ...patience, isOpen: true });
    }) as Result<T, P> | null;
  }

  /** Forget a kept command without knowing its fate. Only for what the person gives up on. */
  forget(intent: string): void {
    this.#open.delete(intent);
    this.#store.remove(nameOf(intent));
  }

  /** One after another under one intent, so that a double click is not two commands. */
  async #inTurn<R>(intent: string, run: () => Promise<R>): Promise<R> {
    const turn = (this.#running.get(intent) ?? Promise.resolve()).catch(() => undefined).then(run);
    this.#running.set(intent, turn);
    try {
      return await turn;
    } finally {
      if (this.#running.get(intent) === turn) this.#running.delete(intent);
    }
  }

  async #runIntent(intent: string, envelope: Envelope, options: CommandOptions): Promise<Result<unknown>> {
    const pending = this.pending(intent);
    const same = pending !== null && isSame(pending, envelope);
    if (pending !== null && !same && pending.mark === null) {
      const before = await this.#attempt(intent, pending.commandId, pending, { ...options, isOpen: true });
      if (this.pending(intent) !== null) return before;
    }
    return this.#attempt(intent, same ? pending.commandId : this.#uuid(), envelope, { ...options, isOpen: same });
  }

  async #attempt(intent: string, commandId: string, envelope: Envelope, options: CommandOptions): Promise<Result<unknown>> {
    // What is kept already is not kept anew: another page may have settled it meanwhile.
    if (this.pending(intent)?.commandId !== commandId) this.#keep(intent, commandId, envelope);
    const { result, isOpen } = await this.#run(commandId, envelope, options);
    if (!isOpen) this.forget(intent);
    return result;
  }

  #keep(intent: string, commandId: string, envelope: Envelope): void {
    const kept: Pending = { ...envelope, commandId, body: typeof envelope.body === 'string' ? envelope.body : null };
    this.#open.set(intent, kept);
    try {
      this.#store.set(nameOf(intent), JSON.stringify(kept));
    } catch {
      // no room: the command is sent all the same, only a reload would not know of it
    }
  }

  async #run(commandId: string, envelope: Envelope, options: CommandOptions): Promise<{ result: Result<unknown>; isOpen: boolean }> {
    options.onId?.(commandId);
    const fate = await attempt(this.#wire, {
      method: envelope.method, path: envelope.path, ...(envelope.body === null ? {} : { body: envelope.body }),
      headers: { ...envelope.headers, 'Idempotency-Key': commandId },
      ...(options.attemptMs === undefined ? {} : { attemptMs: options.attemptMs }),
    }, options);
    return { result: resultOf(commandId, fate), isOpen: fate.isOpen };
  }
}

function isSame(pending: Pending, envelope: Envelope): boolean {
  const body = typeof envelope.body === 'string' ? envelope.body : null;
  return pending.method === envelope.method && pending.path === envelope.path && pending.body === body && pending.mark === envelope.mark;
}

function resultOf(commandId: string, fate: Fate): Result<unknown> {
  switch (fate.kind) {
    case 'success': {
      const { answer } = fate;
      const replayed = answer.headers.get('idempotency-replayed') === 'true';
      return { outcome: 'Done', commandId, receipt: answer.json, replayed, answer };
    }
    case 'refused':
      return { ...fate.problem, commandId, retryAfterMs: fate.retryAfterMs };
    case 'unexpected':
      return { outcome: 'Unexpected', commandId, status: fate.answer.status, text: fate.answer.text };
    case 'unanswered':
      return { outcome: 'Unanswered', commandId, cause: fate.cause };
  }
}
