// A clock that only goes when it is told to.
import type { Timers } from '#client';

type Timer = { at: number; run: () => void; order: number };

/** Let everything that is ready happen. */
export const settle = () => new Promise<void>(resolve => setImmediate(resolve));

export class FakeTimers implements Timers {
  #now = 0;
  #order = 0;
  #timers: Timer[] = [];
  readonly began = Date.parse('2026-03-01T10:00:00.000Z');

  now(): number {
    return this.#now;
  }

  wall(): number {
    return this.began + this.#now;
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, ms), run, order: this.#order++ };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter(one => one !== timer);
    };
  }

  /** How many are set. */
  get pending(): number {
    return this.#timers.length;
  }

  /** Go on by so much; what falls due happens at its time, one after another, with all its consequences. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    await settle();
    for (;;) {
      const due = this.#timers.filter(timer => timer.at <= until).sort((a, b) => a.at - b.at || a.order - b.order)[0];
      if (due === undefined) break;
      this.#timers = this.#timers.filter(timer => timer !== due);
      this.#now = Math.max(this.#now, due.at);
      due.run();
      await settle();
    }
    this.#now = until;
    await settle();
  }
}
