import type { Timers } from '../environment.js';

/** One thing that is to happen later, at one time. */
export class Alarm {
  readonly #timers: Timers;
  readonly #ring: () => void;
  #cancel: (() => void) | null = null;

  constructor(timers: Timers, ring: () => void) {
    this.#timers = timers;
    this.#ring = ring;
  }

  get isSet(): boolean {
    return this.#cancel !== null;
  }

  /** Then, and not when it was set for before. */
  set(ms: number): void {
    this.clear();
    this.#cancel = this.#timers.after(ms, () => {
      this.#cancel = null;
      this.#ring();
    });
  }

  /** Then, unless it is set already. */
  setOnce(ms: number): void {
    if (!this.isSet) this.set(ms);
  }

  clear(): void {
    this.#cancel?.();
    this.#cancel = null;
  }
}
