// What the tabs of one browser tell each other, so that they look sooner. Only a hint: what holds is what the service says.
import { pause, type Timers } from '../environment.js';
import type { Channel } from './tabs.js';

type Said = { kind?: string; session?: string; from?: string; to?: string };

export class Hints {
  readonly #channel: Channel | null;
  readonly #session: string;
  readonly #me: string;
  readonly #hear = (event: { data: unknown }) => this.#heard(event.data as Said);
  #onChanged: () => void = () => undefined;
  #onAsked: () => Promise<void> = async () => undefined;
  #handedOver: (() => void) | null = null;

  /** session: names person and session, the same in every tab. */
  constructor(channel: Channel | null, session: string, me: string) {
    this.#channel = channel;
    this.#session = session;
    this.#me = me;
    channel?.addEventListener('message', this.#hear);
  }

  /** changed: another tab did something to the draft or the session. asked: it wants to take over; write what is typed. */
  listen(onChanged: () => void, onAsked: () => Promise<void>): void {
    this.#onChanged = onChanged;
    this.#onAsked = onAsked;
  }

  changed(): void {
    this.#say({ kind: 'draftChanged' });
  }

  /** Ask the tab that holds the draft to write what it has, and wait for it, but not for long. */
  async ask(holder: string, timers: Timers, ms: number): Promise<void> {
    if (this.#channel === null) return;
    const limit = new AbortController();
    this.#handedOver = () => limit.abort();
    this.#say({ kind: 'draftAsked', to: holder });
    await pause(timers, ms, limit.signal);
    this.#handedOver = null;
  }

  close(): void {
    this.#channel?.removeEventListener('message', this.#hear);
  }

  #say(said: Said): void {
    this.#channel?.postMessage({ ...said, session: this.#session, from: this.#me });
  }

  #heard(said: Said): void {
    if (said.session !== this.#session || said.from === this.#me) return;
    if (said.kind === 'draftChanged') this.#onChanged();
    if (said.to !== this.#me) return;
    if (said.kind === 'draftHandedOver') this.#handedOver?.();
    if (said.kind === 'draftAsked') void this.#onAsked().then(() => this.#say({ kind: 'draftHandedOver', to: said.from! }));
  }
}
