// A fetch that answers from a script and keeps what it was asked.
import assert from 'node:assert/strict';

export type Asked = { method: string; path: string; headers: Headers; body: unknown };
type Answered = { status: number; body?: unknown; text?: string; headers?: Record<string, string>; stream?: ReadableStream<Uint8Array> };

/** lost: no answer. hangs: none until the request is given up. */
export type Line = 'lost' | 'hangs' | Answered | ((asked: Asked) => 'lost' | 'hangs' | Answered);

export const problem = (outcome: string, status: number, more: object = {}, retryAfter?: string): Answered => ({
  status, headers: { 'content-type': 'application/problem+json', ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }) },
  body: { type: `urn:evidenced:problem:${outcome}`, title: outcome, status, detail: `${outcome}.`, outcome, retryable: retryAfter !== undefined, ...more },
});

export class Script {
  readonly asked: Asked[] = [];
  readonly #lines: Line[];

  constructor(...lines: Line[]) {
    this.#lines = lines;
  }

  then(...lines: Line[]): void {
    this.#lines.push(...lines);
  }

  get isOver(): boolean {
    return this.#lines.length === 0;
  }

  readonly fetch = async (input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(String(input));
    const asked = { method: init.method ?? 'GET', path: url.pathname + url.search, headers: new Headers(init.headers), body: init.body };
    init.signal?.throwIfAborted();
    this.asked.push(asked);
    const line = this.#lines.shift();
    assert.ok(line !== undefined, `the script does not have ${asked.method} ${asked.path}`);
    const answer = typeof line === 'function' ? line(asked) : line;
    if (answer === 'lost') throw new TypeError('lost');
    if (answer === 'hangs') return new Promise((_, reject) => init.signal!.addEventListener('abort', () => reject(init.signal!.reason)));
    const text = answer.text ?? (answer.body === undefined ? '' : JSON.stringify(answer.body));
    const headers = new Headers({ ...(answer.text === undefined && answer.body !== undefined ? { 'content-type': 'application/json' } : {}), ...answer.headers });
    return { status: answer.status, headers, text: async () => text, body: answer.stream ?? null } as Response;
  };
}
