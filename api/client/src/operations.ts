// Long work: begun by a command, followed until it is settled.
import { attempt, type Patience } from './attempts.js';
import type { CommandOptions, Commands, Result } from './commands.js';
import { pause } from './environment.js';
import type { AnyProblem, Schemas } from './types.js';
import { pathOf, retryAfterOf, type Wire } from './wire.js';

export type OperationView = Schemas['OperationView'];

/** Settled; `operation.status` says how. */
export type Settled = { outcome: 'Done'; operation: OperationView };

export type OperationResult =
  | Settled
  | (AnyProblem & { retryAfterMs: number | null })
  | { outcome: 'Unanswered'; cause: unknown }
  | { outcome: 'Unexpected'; status: number; text: string };

export type FollowOptions = Patience & {
  /** Called with each state of it that is new. */
  onProgress?: (operation: OperationView) => void;
};

export type ImportOptions = FollowOptions & Pick<CommandOptions, 'intent' | 'onId'> & {
  /** `text/csv`, `text/tab-separated-values` or `application/x-research-info-systems`; by the file's name when left out. */
  mediaType?: string;
  dryRun?: boolean;
  skipRefused?: boolean;
  delimiter?: 'comma' | 'semicolon' | 'tab';
  /** Columns to carry along with each study. */
  labels?: readonly string[];
};

const UPLOAD_MS = 10 * 60_000;
const POLL_MS = 1_000;

const mediaTypes: Record<string, string> = {
  csv: 'text/csv', tsv: 'text/tab-separated-values', tab: 'text/tab-separated-values', ris: 'application/x-research-info-systems',
};

const nameOf = (file: Blob | string) => typeof file !== 'string' && 'name' in file ? String(file.name) : '';

const mediaTypeOf = (file: Blob | string) => mediaTypes[nameOf(file).replace(/^.*\./, '').toLowerCase()] ?? 'text/csv';

/** What tells this file from another when the page is loaded again and the person chooses it anew. */
function markOf(file: Blob | string): string | undefined {
  if (typeof file === 'string') return undefined;
  return `${nameOf(file)} ${file.size} ${'lastModified' in file ? String(file.lastModified) : ''}`;
}

export class Operations {
  readonly #wire: Wire;
  readonly #commands: Commands;

  constructor(wire: Wire, commands: Commands) {
    this.#wire = wire;
    this.#commands = commands;
  }

  /**
   * Import a file of references, and follow it to its end. With an `intent`, the same file chosen again after a reload or
   * a lost answer is the same import, not a second one.
   */
  async importFile(project: string, file: Blob | string, options: ImportOptions = {}): Promise<OperationResult> {
    const { dryRun, skipRefused, delimiter, labels, mediaType = mediaTypeOf(file), onProgress, ...others } = options;
    const path = pathOf('/v1/projects/{project}/imports', { project }, { dryRun, skipRefused, delimiter, label: labels });
    const mark = markOf(file);
    const begun: Result<OperationView> = await this.#commands.sendAs('POST', path, file, {
      attemptMs: UPLOAD_MS, patienceMs: UPLOAD_MS, ...others, headers: { 'Content-Type': mediaType },
      ...(mark === undefined ? {} : { mark }),
    });
    return this.#toTheEnd(project, begun, options);
  }

  /** Take an import back, and follow that to its end. */
  async undoImport(
    project: string, operation: string, options: FollowOptions & Pick<CommandOptions, 'intent'> = {},
  ): Promise<OperationResult> {
    const path = pathOf('/v1/projects/{project}/imports/{operation}/undo', { project, operation });
    const begun: Result<OperationView> = await this.#commands.sendAs('POST', path, null, options);
    return this.#toTheEnd(project, begun, options);
  }

  /** Until it is settled, however long that takes; until the signal, or nobody answers any more. */
  async follow(project: string, operation: string, options: FollowOptions = {}): Promise<OperationResult> {
    const path = pathOf('/v1/projects/{project}/operations/{operation}', { project, operation });
    for (let etag: string | null = null; ;) {
      const fate = await attempt(this.#wire, { method: 'GET', path, headers: etag === null ? {} : { 'If-None-Match': etag } }, options);
      if (fate.kind === 'unanswered') return { outcome: 'Unanswered', cause: fate.cause };
      if (fate.kind === 'unexpected') return { outcome: 'Unexpected', status: fate.answer.status, text: fate.answer.text };
      if (fate.kind === 'refused') return { ...fate.problem, retryAfterMs: fate.retryAfterMs };
      if (fate.answer.status !== 304) {
        const view = fate.answer.json as OperationView;
        etag = fate.answer.headers.get('etag');
        options.onProgress?.(view);
        if (view.status !== 'running') return { outcome: 'Done', operation: view };
      }
      if (!await pause(this.#wire.timers, retryAfterOf(fate.answer.headers) ?? POLL_MS, options.signal)) {
        return { outcome: 'Unanswered', cause: options.signal?.reason };
      }
    }
  }

  async #toTheEnd(project: string, begun: Result<OperationView>, options: FollowOptions): Promise<OperationResult> {
    if (begun.outcome !== 'Done') return begun;
    options.onProgress?.(begun.receipt);
    if (begun.receipt.status !== 'running') return { outcome: 'Done', operation: begun.receipt };
    return this.follow(project, begun.receipt.id, options);
  }
}
