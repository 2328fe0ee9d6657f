// Exports: long answers, piece by piece as they come.
import { attempt, type Patience } from './attempts.js';
import type { OperationOf, PathOf, ProblemOf, RequestOf } from './types.js';
import { answerOf, pathOf, type Exchange, type Sent, type Wire } from './wire.js';

/** `body` fails where the answer was cut off: what came until then is not the whole export. */
export type Exported = { outcome: 'Done'; contentType: string; body: ReadableStream<Uint8Array> };

export type ExportResult<P> =
  | Exported
  | P & { retryAfterMs: number | null }
  | { outcome: 'Unanswered'; cause: unknown }
  | { outcome: 'Unexpected'; status: number; text: string };

export class Exports {
  readonly #wire: Wire;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  /** Begin an export: `(await open('/v1/…/answers.csv', { path })).body` is to be piped where it shall go. */
  async open<P extends PathOf<'get'>>(
    template: P, request: RequestOf<OperationOf<P, 'get'>>, patience: Patience = {},
  ): Promise<ExportResult<ProblemOf<OperationOf<P, 'get'>>>> {
    const { path, query } = request as { path?: Record<string, unknown>; query?: Record<string, unknown> };
    let body: ReadableStream<Uint8Array> | null = null;
    const begin = async (sent: Sent, signal?: AbortSignal): Promise<Exchange> => {
      try {
        const response = await this.#wire.open(sent, signal);
        if (response.status !== 200 || isPage(response)) return { lost: false, answer: await answerOf(response) };
        body = response.body;
        return { lost: false, answer: { status: 200, headers: response.headers, text: '', json: null, problem: null } };
      } catch (cause) {
        return { lost: true, cause };
      }
    };
    const fate = await attempt(this.#wire, { method: 'GET', path: pathOf(template, path, query) }, patience, begin);
    switch (fate.kind) {
      case 'success': return { outcome: 'Done', contentType: fate.answer.headers.get('content-type') ?? '', body: body! };
      case 'refused': return { ...fate.problem, retryAfterMs: fate.retryAfterMs } as never;
      case 'unexpected': return { outcome: 'Unexpected', status: fate.answer.status, text: fate.answer.text };
      case 'unanswered': return { outcome: 'Unanswered', cause: fate.cause };
    }
  }
}

/** A network that wants one to sign in answers with a page. */
const isPage = (response: Response) => (response.headers.get('content-type') ?? '').startsWith('text/html');
