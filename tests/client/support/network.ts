// Between a tab and the model service: a network that loses requests and answers when told to, and keeps order.
import type { Service } from './model.js';

/**
 * lost: nothing arrives. unanswered: it takes effect, the answer is lost. Otherwise: answered like this instead, after it
 * took effect or (unless told so) without.
 */
export type Fault = 'lost' | 'unanswered' | { tookEffect?: boolean; status: number; body?: unknown; headers?: Record<string, string>; text?: string };

export type Call = { method: string; path: string; body: any; key: string | null };

type Held = { go: () => void };

export class Network {
  /** Asked for each request; undefined: it goes through. */
  fault: (call: Call) => Fault | undefined = () => undefined;
  isDown = false;
  /** Requests wait until they are let through. */
  holds: ((call: Call) => boolean) | null = null;
  readonly calls: Call[] = [];
  readonly #held: Held[] = [];

  constructor(readonly service: Service) {}

  readonly fetch = async (input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> => {
    const path = new URL(String(input)).pathname + new URL(String(input)).search;
    const headers = new Headers(init.headers);
    const text = init.body === undefined || init.body === null ? undefined : String(init.body);
    const call = { method: init.method ?? 'GET', path: path.replace(this.service.base, ''), body: text === undefined ? undefined : JSON.parse(text), key: headers.get('idempotency-key') };
    this.calls.push(call);
    if (this.holds?.(call)) await new Promise<void>(go => this.#held.push({ go }));
    init.signal?.throwIfAborted();
    const fault = this.isDown ? 'lost' : this.fault(call);
    if (fault === 'lost') throw new TypeError('network error');
    if (typeof fault === 'object' && fault.tookEffect) this.service.answer(call.method, path, headers, text);
    if (typeof fault === 'object') return responseOf(fault.status, fault.text ?? JSON.stringify(fault.body), fault.headers);
    const reply = this.service.answer(call.method, path, headers, text);
    if (fault === 'unanswered') throw new TypeError('connection lost');
    return responseOf(reply.status, JSON.stringify(reply.body), reply.headers);
  };

  /** Let through what waits. */
  release(): void {
    this.holds = null;
    for (const { go } of this.#held.splice(0)) go();
  }

  /** The next request that fits has this fault, and only that one. */
  once(fits: (call: Call) => boolean, fault: Fault): void {
    let done = false;
    const before = this.fault;
    this.fault = call => {
      if (done || !fits(call)) return before(call);
      done = true;
      return fault;
    };
  }
}

/** As far as a client looks at one. Everything about it is ready at once. */
function responseOf(status: number, text: string, headers: Record<string, string> = {}): Response {
  const all = new Headers({ 'content-type': 'application/json', 'x-request-id': 'r', ...headers });
  return { status, headers: all, ok: status < 300, text: async () => text } as Response;
}
