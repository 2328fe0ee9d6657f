// What this browser keeps itself: what is typed until the service has it, and what nobody else has room for.
import { randomUuid, type TextStore } from '../environment.js';
import type { DraftContent, AnswerPlace } from './shapes.js';

/** What one tab has typed and the service has not acknowledged. */
export type TypedRecord = {
  holder: string;
  baseVersion: string | null;
  /** The draft's etag it was typed on; null: there was no draft. */
  etag: number | null;
  /** The generation of the draft's lease it was typed under; 0: there was no draft. */
  leaseGeneration: number;
  /** And the draft's write sequence; 0: there was no draft. */
  writeSeq: number;
  touchedAt: number;
  content: DraftContent;
  reverted: AnswerPlace[];
};

/** A copy that only this browser has. */
export type LocalCopy = {
  id: string;
  reason: string;
  baseVersion: string | null;
  keptAt: string;
  content: DraftContent;
};

export class LocalText {
  readonly #store: TextStore;
  readonly #session: string;

  /** session: names person and session, so that nobody meets another one's text. */
  constructor(store: TextStore, session: string) {
    this.#store = store;
    this.#session = session;
  }

  /** False when there was no room. */
  keepTyped(record: TypedRecord): boolean {
    return this.#set(`typed:${this.#session}:${record.holder}`, record);
  }

  dropTyped(holder: string): void {
    this.#store.remove(`typed:${this.#session}:${holder}`);
  }

  /** Of every tab. */
  typed(): TypedRecord[] {
    return this.#all<TypedRecord>(`typed:${this.#session}:`);
  }

  /** False when there was no room: then the text must stay where it is. */
  keepCopy(copy: Omit<LocalCopy, 'id'>): boolean {
    const id = randomUuid();
    return this.#set(`copy:${this.#session}:${id}`, { ...copy, id });
  }

  dropCopy(id: string): void {
    this.#store.remove(`copy:${this.#session}:${id}`);
  }

  copies(): LocalCopy[] {
    return this.#all<LocalCopy>(`copy:${this.#session}:`).sort((a, b) => a.keptAt.localeCompare(b.keptAt));
  }

  #set(name: string, what: unknown): boolean {
    try {
      this.#store.set(name, JSON.stringify(what));
      return true;
    } catch {
      return false;
    }
  }

  #all<T>(prefix: string): T[] {
    const found: T[] = [];
    for (const name of this.#store.names()) {
      if (!name.startsWith(prefix)) continue;
      try {
        found.push(JSON.parse(this.#store.get(name) ?? '') as T);
      } catch {
        // not written by this layer
      }
    }
    return found;
  }
}
