// One request and what came of it. Nothing is ever sent twice here, but after a 401 with a renewed token: such an answer
// says that nothing happened.
import { systemTimers, type Timers } from './environment.js';
import type { AnyProblem } from './types.js';

export type WireOptions = {
  /** Where the service is: `https://review.example.org`. */
  baseUrl: string;
  /** The bearer token. `renew`: the one given before was refused. */
  token: (renew: boolean) => string | Promise<string>;
  fetch?: typeof fetch;
  timers?: Timers;
  /** How long one attempt may take; the service answers within 10 s. */
  attemptMs?: number;
};

export type Sent = {
  method: string;
  /** With its query. */
  path: string;
  headers?: Record<string, string>;
  body?: string | Blob | ArrayBuffer;
  /** From a hidden page, let it be delivered although the page is closed meanwhile; for small bodies only. */
  keepalive?: boolean;
  /** How long this attempt may take, when not as long as any. */
  attemptMs?: number;
};

export type Answer = {
  status: number;
  headers: Headers;
  text: string;
  /** The body when it is JSON. */
  json: unknown;
  /** The body when it is a problem of the service. */
  problem: AnyProblem | null;
};

/** `lost`: nobody knows whether it arrived. */
export type Exchange = { lost: false; answer: Answer } | { lost: true; cause: unknown };

const ATTEMPT_MS = 40_000;
const KEEPALIVE_LENGTH = 20_000; // at most three bytes each; browsers allow 64 KiB for all such requests together

function problemOf(type: string, json: unknown): AnyProblem | null {
  if (!type.startsWith('application/problem+json') || json === null || typeof json !== 'object') return null;
  return typeof (json as AnyProblem).outcome === 'string' ? json as AnyProblem : null;
}

export async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  let json: unknown;
  try {
    json = /\bjson\b/.test(type) && text !== '' ? JSON.parse(text) : undefined;
  } catch (cause) {
    throw new Error('the answer was cut off', { cause });
  }
  return { status: response.status, headers: response.headers, text, json, problem: problemOf(type, json) };
}

/** Milliseconds of `Retry-After`, which is seconds or a date; null without one. */
export function retryAfterOf(headers: Headers): number | null {
  const text = headers.get('retry-after');
  if (text === null) return null;
  if (/^\s*\d+\s*$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}

export class Wire {
  readonly timers: Timers;
  readonly #options: WireOptions;
  readonly #base: string;

  constructor(options: WireOptions) {
    this.#options = options;
    this.#base = options.baseUrl.replace(/\/+$/, '');
    this.timers = options.timers ?? systemTimers;
  }

  /** The whole answer. An aborted signal makes it lost. */
  async exchange(sent: Sent, signal?: AbortSignal): Promise<Exchange> {
    const limit = new AbortController();
    const most = sent.attemptMs ?? this.#options.attemptMs ?? ATTEMPT_MS;
    const give = this.timers.after(most, () => limit.abort(new Error('no answer in time')));
    const stop = () => limit.abort(signal?.reason);
    signal?.addEventListener('abort', stop, { once: true });
    try {
      signal?.throwIfAborted();
      return { lost: false, answer: await answerOf(await this.open(sent, limit.signal)) };
    } catch (cause) {
      return { lost: true, cause };
    } finally {
      give();
      signal?.removeEventListener('abort', stop);
    }
  }

  /** The response with its body unread. Throws when there is none. */
  async open(sent: Sent, signal?: AbortSignal): Promise<Response> {
    const response = await this.#fetch(sent, false, signal);
    return response.status === 401 ? this.#fetch(sent, true, signal) : response;
  }

  async #fetch(sent: Sent, renew: boolean, signal?: AbortSignal): Promise<Response> {
    const send = this.#options.fetch ?? fetch;
    const headers = new Headers(sent.headers);
    headers.set('Authorization', `Bearer ${await this.#options.token(renew)}`);
    if (typeof sent.body === 'string' && !headers.has('Content-Type')) headers.set('Content-Type', 'application/json');
    return send(this.#base + sent.path, {
      method: sent.method, headers,
      ...(sent.body === undefined ? {} : { body: sent.body }),
      ...(sent.keepalive && isLeaving() && typeof sent.body === 'string' && sent.body.length < KEEPALIVE_LENGTH ? { keepalive: true } : {}),
      ...(signal === undefined ? {} : { signal }),
      // The service says itself what may be kept; what may, this layer keeps, by its ETag.
      cache: 'no-store',
    });
  }
}

/** A hidden page may be closed without a word. */
const isLeaving = () => typeof document !== 'undefined' && document.visibilityState === 'hidden';

/** A template with the ids put in, and a query: what is undefined is left out, a list is said item by item. */
export function pathOf(template: string, ids: Record<string, unknown> = {}, query: Record<string, unknown> = {}): string {
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    if (ids[name] === undefined) throw new TypeError(`${template} needs ${name}`);
    return encodeURIComponent(String(ids[name]));
  });
  const asked = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).filter(one => one !== undefined && one !== null).map(one => [name, String(one)]));
  const words = new URLSearchParams(asked).toString();
  return words === '' ? path : `${path}?${words}`;
}
