// What was typed and found no place: the service's conflict copies, and those that only this browser has.
import type { Patience } from '../attempts.js';
import { contentFrom, contentTo, overwritten } from './content.js';
import type { Desk } from './desk.js';
import type { LocalText } from './local.js';
import type { Fetched, StepResult } from './outcomes.js';
import type { DraftServer } from './server.js';
import type { DraftContent } from './shapes.js';
import type { Writer } from './writer.js';

export type Copy = {
  /** `browser`: it is nowhere else. */
  where: 'service' | 'browser';
  id: string;
  /** Why it was kept. */
  reason: string;
  /** The version it was typed on. */
  baseVersion: string | null;
  keptAt: string;
  places: number;
};

export type CopiesOptions = {
  desk: Desk;
  writer: Writer;
  server: DraftServer;
  local: LocalText;
  holder: string;
  turn: (run: () => Promise<StepResult>) => Promise<StepResult>;
  /** Something was laid over what is typed. */
  onTyped: () => void;
  onDone: () => void;
};

export class Copies {
  readonly #o: CopiesOptions;

  constructor(options: CopiesOptions) {
    this.#o = options;
  }

  /** All of them, oldest first. */
  async list(patience: Patience = {}): Promise<Fetched<Copy[]>> {
    const here = this.#o.local.copies().map(({ id, reason, baseVersion, keptAt, content }): Copy =>
      ({ where: 'browser', id, reason, baseVersion, keptAt, places: contentFrom(content).size }));
    const kept = await this.#o.server.copies(patience);
    if (kept.outcome !== 'Done') return kept;
    const there = kept.value.map(({ id, reason, baseVersion, keptAt, places }): Copy =>
      ({ where: 'service', id, reason, baseVersion, keptAt, places }));
    return { outcome: 'Done', value: [...here, ...there].sort((a, b) => a.keptAt.localeCompare(b.keptAt)) };
  }

  /** What it says; null when it is not there any more. */
  async read(copy: Copy, patience: Patience = {}): Promise<Fetched<DraftContent | null>> {
    if (copy.where === 'browser') return { outcome: 'Done', value: this.#here(copy.id) };
    const kept = await this.#o.server.copy(copy.id, patience);
    return kept.outcome === 'Done' ? { outcome: 'Done', value: kept.value?.content ?? null } : kept;
  }

  /** Lay it over what is typed. What it overwrites becomes a copy in its turn. */
  adopt(copy: Copy, patience: Patience = {}): Promise<StepResult> {
    return this.#o.turn(async () => {
      const { writer, desk, server, holder } = this.#o;
      // What is typed must be there first, so that the service keeps what the copy overwrites.
      const pushed = await writer.push();
      const held = pushed === 'clean' ? await writer.hold() : 'later';
      if (writer.block !== null) return { outcome: 'Blocked', status: writer.block.kind, problem: writer.block.problem };
      if (copy.where === 'browser') return this.#adoptHere(copy.id);
      if (held !== 'on' || desk.stored === null) return { outcome: 'NotSent' };
      const result = await server.adopt(copy.id, holder, desk.stored.etag, patience);
      if (result.outcome !== 'Done') writer.doubt();
      if (result.outcome !== 'Done') return result;
      await writer.refresh();
      this.#o.onDone();
      return { outcome: 'Done' };
    });
  }

  /** Throw it away. The service notes that it was done. */
  async discard(copy: Copy, patience: Patience = {}): Promise<StepResult> {
    if (copy.where === 'browser') {
      this.#o.local.dropCopy(copy.id);
      return { outcome: 'Done' };
    }
    const result = await this.#o.server.discardCopy(copy.id, patience);
    return result.outcome === 'Done' ? { outcome: 'Done' } : result;
  }

  #here(id: string): DraftContent | null {
    return this.#o.local.copies().find(copy => copy.id === id)?.content ?? null;
  }

  #adoptHere(id: string): StepResult {
    const { desk, writer, local } = this.#o;
    const content = contentFrom(this.#here(id));
    const lost = overwritten(desk.typed, content);
    const room = lost.size === 0 || local.keepCopy({
      reason: 'overwritten', baseVersion: desk.base.versionId, keptAt: new Date(writer.wall()).toISOString(),
      content: contentTo(lost),
    });
    if (!room) return { outcome: 'NoRoom' };
    desk.lay(content);
    writer.persist();
    if (writer.isKeptHere) local.dropCopy(id);
    this.#o.onTyped();
    return { outcome: 'Done' };
  }
}
