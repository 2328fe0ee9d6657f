// The same request again and again until its fate is known, waiting as the service says.
import { pause } from './environment.js';
import type { AnyProblem } from './types.js';
import { retryAfterOf, type Answer, type Exchange, type Sent, type Wire } from './wire.js';

export type Patience = {
  signal?: AbortSignal;
  /** How long to go on, from the first attempt; 60 s unless given. A wait that would go beyond is not begun. */
  patienceMs?: number;
  /** Called before each wait, with what it waits for: a problem, or null when there was no answer. */
  onWait?: (ms: number, problem: AnyProblem | null) => void;
  random?: () => number;
  /** An attempt before these may have taken effect. */
  isOpen?: boolean;
};

/**
 * success: 2xx or 304. refused: a problem that ends it, or a retryable one when patience was at its end. unexpected: an
 * answer of something that is not the service. unanswered: nothing came.
 *
 * isOpen: one of the attempts may have taken effect, or may still.
 */
export type Fate = { isOpen: boolean } & (
  | { kind: 'success'; answer: Answer }
  | { kind: 'refused'; problem: AnyProblem; retryAfterMs: number | null }
  | { kind: 'unexpected'; answer: Answer }
  | { kind: 'unanswered'; cause: unknown });

type Last = Fate extends infer F ? F extends Fate ? Omit<F, 'isOpen'> : never : never;

const PATIENCE_MS = 60_000;
const FIRST_MS = 500;
const LARGEST_MS = 30_000;
const JITTER_MS = 1_000;

/** Full jitter: anywhere up to a bound that doubles, so that many who lost one answer do not all come back at once. */
export function backOff(attempt: number, random: () => number = Math.random): number {
  return Math.round(random() * Math.min(LARGEST_MS, FIRST_MS * 2 ** Math.min(attempt, 10)));
}

/** Never sooner than told, and not all at the same moment. */
export function waitAsTold(retryAfterMs: number, random: () => number = Math.random): number {
  return retryAfterMs + Math.round(random() * Math.min(JITTER_MS, Math.max(100, retryAfterMs / 2)));
}

const isText = (answer: Answer) => answer.json === undefined && answer.status !== 204 && answer.status !== 304;

const isTransient = (status: number) => status === 408 || status === 425 || status === 429 || status >= 500;

/** What one answer says, by itself. wait: come again after so long; null, after a back-off. */
export type Judged =
  | { kind: 'success' }
  | { kind: 'refused'; problem: AnyProblem }
  | { kind: 'unexpected' }
  | { kind: 'again'; problem: AnyProblem | null; retryAfterMs: number | null };

export function judge(answer: Answer): Judged {
  const { problem } = answer;
  if ((answer.status >= 200 && answer.status < 300) || answer.status === 304) {
    // A network that wants one to sign in answers 200 with a page of its own: nothing was done.
    return isText(answer) ? { kind: 'again', problem: null, retryAfterMs: null } : { kind: 'success' };
  }
  if (problem?.retryable) return { kind: 'again', problem, retryAfterMs: retryAfterOf(answer.headers) ?? 1000 };
  if (problem !== null) return { kind: 'refused', problem };
  if (isTransient(answer.status)) return { kind: 'again', problem: null, retryAfterMs: retryAfterOf(answer.headers) };
  return { kind: 'unexpected' };
}

/** Of one exchange: its fate if it ends here, else how long to wait, and the fate should patience end. */
type After = { fate: Last; wait: number | null; problem: AnyProblem | null };

function afterExchange(exchange: Exchange, tried: number, random: () => number): After {
  const soon = backOff(tried, random);
  if (exchange.lost) return { fate: { kind: 'unanswered', cause: exchange.cause }, wait: soon, problem: null };
  const { answer } = exchange;
  const judged = judge(answer);
  switch (judged.kind) {
    case 'success': return { fate: { kind: 'success', answer }, wait: null, problem: null };
    case 'unexpected': return { fate: { kind: 'unexpected', answer }, wait: null, problem: null };
    case 'refused': return { fate: { kind: 'refused', problem: judged.problem, retryAfterMs: null }, wait: null, problem: null };
    case 'again': {
      const { problem, retryAfterMs } = judged;
      const fate: Last = problem === null
        ? { kind: 'unanswered', cause: new Error(`answered ${answer.status} by something in between`) }
        : { kind: 'refused', problem, retryAfterMs: retryAfterMs ?? 0 };
      return { fate, wait: retryAfterMs === null ? soon : waitAsTold(retryAfterMs, random), problem };
    }
  }
}

/**
 * May any attempt have taken effect, now that this was answered? A 409 comes from behind the ledger: had one landed, its
 * receipt would have come instead. What may come from before it (no token, no member, too busy, its turn never came) says
 * nothing of the others.
 */
function isStillOpen(fate: Last, before: boolean): boolean {
  if (fate.kind === 'unanswered') return true;
  if (fate.kind === 'success') return false;
  if (fate.kind === 'unexpected') return before;
  const { outcome, status } = fate.problem;
  if (outcome === 'OutcomeUnknown') return true;
  return status === 409 && outcome !== 'RetryableConflict' ? false : before;
}

/** exchange: how one attempt is made, when not as any. */
export async function attempt(
  wire: Wire, sent: Sent, patience: Patience = {}, exchange: Wire['exchange'] = (what, signal) => wire.exchange(what, signal),
): Promise<Fate> {
  const { signal, random = Math.random } = patience;
  const until = wire.timers.now() + (patience.patienceMs ?? PATIENCE_MS);
  let isOpen = patience.isOpen ?? false;
  for (let tried = 0; ; tried++) {
    const { fate, wait, problem } = afterExchange(await exchange(sent, signal), tried, random);
    isOpen = isStillOpen(fate, isOpen);
    const last = { ...fate, isOpen } as Fate;
    if (wait === null || signal?.aborted || wire.timers.now() + wait > until) return last;
    patience.onWait?.(wait, problem);
    if (!await pause(wire.timers, wait, signal)) return last;
  }
}
