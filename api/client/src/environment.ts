// What the layer takes from where it runs: time, chance, ids, and places to keep text in. All of it can be given, so
// that tests own it.

/** Time. `now` is milliseconds from any fixed instant and never goes back: for waiting. `wall` is the time of day. */
export interface Timers {
  now(): number;
  wall(): number;
  /** Run after `ms`; the answer takes it back. */
  after(ms: number, run: () => void): () => void;
}

/** A place to keep short texts by name. Synchronous, as a page that is being closed has no time for more. */
export interface TextStore {
  get(name: string): string | null;
  /** May throw when there is no room. */
  set(name: string, text: string): void;
  remove(name: string): void;
  names(): string[];
}

export const systemTimers: Timers = {
  now: () => performance.now(),
  wall: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

export function memoryStore(): TextStore {
  const texts = new Map<string, string>();
  return {
    get: name => texts.get(name) ?? null,
    set: (name, text) => void texts.set(name, text),
    remove: name => void texts.delete(name),
    names: () => [...texts.keys()],
  };
}

/** `sessionStorage` or `localStorage`, under a prefix of its own. */
export function webStore(storage: Storage, prefix = 'evidenced:'): TextStore {
  return {
    get: name => storage.getItem(prefix + name),
    set: (name, text) => storage.setItem(prefix + name, text),
    remove: name => storage.removeItem(prefix + name),
    names: () => Array.from({ length: storage.length }, (_, i) => storage.key(i)!)
      .filter(name => name.startsWith(prefix)).map(name => name.slice(prefix.length)),
  };
}

/** The browser's storage of this kind; memory where there is none, or where the person has switched it off. */
export function storeOf(kind: 'sessionStorage' | 'localStorage'): TextStore {
  try {
    const storage = globalThis[kind];
    if (typeof storage !== 'undefined') return webStore(storage);
  } catch {
    // switched off: reading the property throws
  }
  return memoryStore();
}

let makeUuid: (() => string) | undefined;

/** The entry for Node sets it: Node 18 has no global `crypto`. */
export function useUuid(make: () => string): void {
  makeUuid = make;
}

/** A random UUID (version 4). `crypto.randomUUID` is missing on pages that were not served securely. */
export function randomUuid(): string {
  if (makeUuid !== undefined) return makeUuid();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Wait, or stop waiting when told to; false when told to. */
export function pause(timers: Timers, ms: number, signal?: AbortSignal): Promise<boolean> {
  return new Promise(resolve => {
    if (signal?.aborted) return resolve(false);
    const stopped = () => {
      cancel();
      resolve(false);
    };
    const cancel = timers.after(ms, () => {
      signal?.removeEventListener('abort', stopped);
      resolve(true);
    });
    signal?.addEventListener('abort', stopped, { once: true });
  });
}
